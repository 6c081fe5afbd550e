package guard

import "time"

// Instant is a reading of the machine's boot clock, in nanoseconds since a moment that all processes of one boot
// share. The clock is never stepped and, on Linux, macOS and Windows, runs through suspension. Zero is no instant.
type Instant int64

// Expiry returns the instant at which a lease ends of which left says how much is left. The clock is read before
// left is called, so a pause between the two makes the instant earlier, never later.
func Expiry(left func() time.Duration) Instant {
	now := Now()
	return now.Add(left())
}

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// String returns the time since the clock's origin.
func (i Instant) String() string { return time.Duration(i).String() }
