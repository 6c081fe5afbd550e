//go:build !linux

package clock

import "time"

// boot is zero where the standard library cannot reach a clock that counts suspension. The wall clock, which also
// runs on through one, stands in for it.
func boot() time.Duration { return 0 }
