//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package guard

import "golang.org/x/sys/unix"

// bootClock counts suspension on macOS; the other systems differ by version.
const bootClock = unix.CLOCK_MONOTONIC
