//go:build unix

package guard

import "golang.org/x/sys/unix"

// Now reads the boot clock. It costs a system call on some systems.
func Now() Instant {
	var now unix.Timespec
	if err := unix.ClockGettime(bootClock, &now); err != nil {
		panic("guard: the boot clock cannot be read: " + err.Error())
	}
	return Instant(now.Nano())
}
