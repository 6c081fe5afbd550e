package dualleader

import (
	"sync"
	"time"
)

// Clock is that of one machine, a process's or the server's, made from the bubble's time. It is safe for concurrent
// use.
type Clock struct {
	origin time.Time

	mu         sync.Mutex
	rate       float64
	mono, wall time.Duration // how far the clocks are from where the rate alone would have them
	frozen     bool
	at         time.Duration // of the bubble, when it was frozen
}

// epoch is what a wall clock shows at the begin of a history.
const epoch = 1000 * time.Hour

func newClock() *Clock { return &Clock{origin: time.Now(), rate: 1, wall: epoch} }

// Read returns the readings of the monotonic clock and of the wall clock.
func (c *Clock) Read() (mono, wall time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ran := time.Duration(float64(c.ran()) * c.rate)
	return ran + c.mono, ran + c.wall
}

func (c *Clock) ran() time.Duration {
	if c.frozen {
		return c.at
	}
	return time.Since(c.origin)
}

// Run makes the clock run at a rate, before the history begins.
func (c *Clock) Run(rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rate = rate
}

// Step sets the wall clock forward, or back.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += d
}

// Freeze stops the clock for a process that cannot read it until Thaw.
func (c *Clock) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.frozen = c.ran(), true
}

// Thaw tells which clocks ran meanwhile.
func (c *Clock) Thaw(mono, wall bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = false
	stood := time.Duration(float64(c.ran()-c.at) * c.rate)
	if !mono {
		c.mono -= stood
	}
	if !wall {
		c.wall -= stood
	}
}
