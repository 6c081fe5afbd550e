package guard

import "golang.org/x/sys/windows"

// Now reads the boot clock, which has a resolution of about 16 ms here.
func Now() Instant { return Instant(windows.DurationSinceBoot()) }
