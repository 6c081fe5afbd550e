//go:build linux

package worker

import (
	"sync"
	"time"
)

// clock is a pair of clocks that run at a rate of their own, and whose wall clock can be moved.
type clock struct {
	mu     sync.Mutex
	rate   float64
	since  time.Time     // when the rate was set
	shown  time.Duration // by the monotonic clock then
	offset time.Duration // of the wall clock
}

func newClock(rate float64) *clock {
	now := time.Now()
	return &clock{rate: rate, since: now, offset: time.Duration(now.UnixNano())}
}

func (c *clock) read() (mono, wall time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mono = c.mono()
	return mono, mono + c.offset
}

func (c *clock) mono() time.Duration {
	return c.shown + time.Duration(float64(time.Since(c.since))*c.rate)
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += by
}

// run has the clocks run at another rate from now on.
func (c *clock) run(rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown, c.since, c.rate = c.mono(), time.Now(), rate
}
