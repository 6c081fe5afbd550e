package guard

import "golang.org/x/sys/unix"

// bootClock counts suspension, unlike CLOCK_MONOTONIC.
const bootClock = unix.CLOCK_BOOTTIME
