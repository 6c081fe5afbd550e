package guard

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// alarm wakes a loop at an instant: a kernel timer on the boot clock, which is on time after a suspension too.
type alarm struct {
	file *os.File
	C    chan struct{}
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("guard: make a timer on the boot clock: %w", err)
	}
	a := &alarm{file: os.NewFile(uintptr(fd), "timer"), C: make(chan struct{}, 1)}
	go a.ring()
	return a, nil
}

func (a *alarm) ring() {
	var expirations [8]byte
	for {
		if _, err := a.file.Read(expirations[:]); err != nil {
			return
		}
		select {
		case a.C <- struct{}{}:
		default:
		}
	}
}

// set moves the alarm. An instant that has passed rings at once.
func (a *alarm) set(at Instant) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(at, 1)))} // zero would disarm it
	conn, err := a.file.SyscallConn()
	if err != nil {
		return // closed: nobody waits any more
	}
	_ = conn.Control(func(fd uintptr) {
		if err := unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
			panic("guard: the timer cannot be set: " + err.Error())
		}
	})
}

func (a *alarm) close() { _ = a.file.Close() }
