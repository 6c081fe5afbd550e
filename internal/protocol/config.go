package protocol

import (
	"fmt"
	"math"
	"time"
)

// Config fixes a machine's identity and timing. Check says whether it can be safe.
type Config struct {
	ID      string // of the candidate
	Session string // a nonce of this process; a machine that finds that it was copied makes another

	TTL         time.Duration // D
	Drain       time.Duration // what leader work gets to return
	ClockError  float64       // e, of the clocks that this machine reads
	Grain       time.Duration // g, by which a reading may lag behind
	RenewEvery  time.Duration // a leader's interval
	PollEvery   time.Duration // a follower's, while nothing is pushed
	CallTimeout time.Duration // of one store call

	Backoff     Backoff
	MaxFailures int // failures in a row after which a leader gives up; 0: none, the lease decides

	PriorityDelay time.Duration // a free seat is left to others for so long
	BidSpread     time.Duration // and for a random part of this

	Watch         bool // the store pushes
	Release       bool // vacate the seat when stopped
	HealthChecked bool // unhealthy until told otherwise
}

// Span is the time from the sending of an attempt to the end of the trust that it gives: D·(1-e) - g - drain.
func (c Config) Span() time.Duration { return c.LeaseSpan() - c.Drain }

// LeaseSpan is the time from the sending of an attempt until all leader work has returned: D·(1-e) - g. However slow
// the clock is within e, no more than D passes meanwhile.
func (c Config) LeaseSpan() time.Duration {
	return time.Duration(float64(c.TTL)*(1-c.ClockError)) - c.Grain
}

// Wait is the time from the first sight of a mark until its seat is open: ttl·(1+e) + g. However fast the clock is
// within e, no less than ttl passes meanwhile.
func (c Config) Wait(ttl time.Duration) time.Duration {
	return ttl + time.Duration(math.Ceil(float64(ttl)*c.ClockError)) + c.Grain
}

// MaxTTL is the longest TTL that any candidate may have. A record with a longer one was not written by a candidate.
const MaxTTL = 24 * time.Hour

// MaxClockError is the largest e that is accepted: beyond it the lease would be mostly margin.
const MaxClockError = 0.1

// Check returns an error that names the violated inequality and its values, nil if there is none.
func (c Config) Check() error {
	// Written so that NaN is refused too.
	if !(c.ClockError >= 0 && c.ClockError <= MaxClockError) {
		return fmt.Errorf("clock error %v must be between 0 and %v", c.ClockError, MaxClockError)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"TTL", c.TTL}, {"renew interval", c.RenewEvery}, {"poll interval", c.PollEvery}, {"call timeout", c.CallTimeout}} {
		if d.value <= 0 {
			return fmt.Errorf("%s %v must be positive", d.name, d.value)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"grain of the clocks", c.Grain}, {"priority delay", c.PriorityDelay}, {"bid spread", c.BidSpread}} {
		if d.value < 0 {
			return fmt.Errorf("%s %v must not be negative", d.name, d.value)
		}
	}
	return c.checkInequalities()
}

func (c Config) checkInequalities() error {
	if c.TTL > MaxTTL {
		return fmt.Errorf("TTL %v must not be above %v", c.TTL, MaxTTL)
	}
	if least := min(c.TTL/100, 10*time.Millisecond); c.Drain < least {
		return fmt.Errorf("leader work needs some time to return: drain >= %v, but it is %v", least, c.Drain)
	}
	if c.RenewEvery+2*c.CallTimeout > c.Span() {
		return fmt.Errorf("a lost renewal must leave time for one more: renew interval + 2 · call timeout <= "+
			"TTL · (1 - clock error) - grain of the clocks - drain, but %v + 2 · %v > %v · (1 - %v) - %v - %v = %v",
			c.RenewEvery, c.CallTimeout, c.TTL, c.ClockError, c.Grain, c.Drain, c.Span())
	}
	if c.PollEvery > c.TTL {
		return fmt.Errorf("a follower must look at least once a lease: poll interval <= TTL, but %v > %v",
			c.PollEvery, c.TTL)
	}
	if c.MaxFailures < 0 {
		return fmt.Errorf("max failures %d must not be negative", c.MaxFailures)
	}
	return c.Backoff.check()
}
