//go:build linux

package worker

import (
	"sync/atomic"
	"time"
)

// clock is a pair of clocks that run at a rate of their own, and whose wall clock can be moved.
type clock struct {
	rate   float64
	origin time.Time
	offset atomic.Int64
}

func newClock(rate float64) *clock { return &clock{rate: rate, origin: time.Now()} }

func (c *clock) read() (mono, wall time.Duration) {
	mono = time.Duration(float64(time.Since(c.origin)) * c.rate)
	return mono, time.Duration(c.origin.UnixNano()+c.offset.Load()) + mono
}

func (c *clock) move(by time.Duration) { c.offset.Add(int64(by)) }
