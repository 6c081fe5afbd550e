package history

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// Instant is a reading of the machine's boot clock in nanoseconds: CLOCK_BOOTTIME on Linux, which all processes share,
// which nobody steps, and which runs through suspension. Zero is no instant.
type Instant int64

var clocks = clock.New(nil)

// Now reads the boot clock.
func Now() Instant {
	now := clocks.Read()
	if now.Boot == 0 {
		return Instant(now.Wall)
	}
	return Instant(now.Boot)
}

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration { return time.Duration(i - earlier) }
