// Package clock reads all clocks of the machine together. No single one is enough: the monotonic clock stands still
// while a machine is suspended, the wall clock is stepped by people and daemons, and the one clock that does neither
// costs a system call and exists only on some systems.
package clock

import "time"

// Reading is one reading of all clocks. Each is counted from an origin of its own, fixed for the process; only
// differences within one process mean anything.
type Reading struct {
	// Mono is the monotonic clock. It may stand still during a suspension.
	Mono time.Duration
	// Wall is the wall clock. It may be stepped either way.
	Wall time.Duration
	// Boot is a monotonic clock that counts suspension, zero where there is none.
	Boot time.Duration
}

// Since returns the time that has passed since then by the clock that ran furthest. It is how a leader counts its
// lease: no fault of a single clock can make it trust itself for too long.
func (r Reading) Since(then Reading) time.Duration {
	return max(r.Mono-then.Mono, r.Wall-then.Wall, r.Boot-then.Boot)
}

// Add returns the reading at which d has passed on every clock.
func (r Reading) Add(d time.Duration) Reading {
	return Reading{Mono: r.Mono + d, Wall: r.Wall + d, Boot: r.Boot + d}
}
