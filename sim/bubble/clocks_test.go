package bubble

import (
	"sync"
	"time"
)

// clocks are a candidate's own: fast or slow, moved by hand, and still while its machine is suspended.
type clocks struct {
	origin time.Time
	rate   float64
	counts bool // the monotonic clock counts suspension, as those of some systems do

	mu      sync.Mutex
	stepped time.Duration // by which the wall clock was set
	slept   time.Duration // which a monotonic clock that does not count it lags behind
	asleep  time.Time     // since when; zero while the machine is awake
}

// read is for tenure.WithClock.
func (c *clocks) read() (mono, wall time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.asleep
	if now.IsZero() {
		now = time.Now()
	}
	passed := now.Sub(c.origin)
	return c.count(passed - c.slept), c.count(passed) + c.stepped
}

func (c *clocks) count(passed time.Duration) time.Duration {
	return time.Duration(float64(passed) * c.rate)
}

// step sets the wall clock. It is set back only where the monotonic clock counts suspension: on other machines a
// suspension together with that would hide from both, and only the third clock, which a test cannot replace, would tell.
func (c *clocks) step(d *dice) {
	by := d.upTo(time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts && by%2 == 0 {
		by = -by
	}
	c.stepped += by
}

func (c *clocks) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asleep = time.Now()
}

func (c *clocks) thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.counts {
		c.slept += time.Since(c.asleep)
	}
	c.asleep = time.Time{}
}
