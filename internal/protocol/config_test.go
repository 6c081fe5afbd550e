package protocol

import (
	"math"
	"strings"
	"testing"
	"time"
)

// S12: what cannot be safe is refused, and the refusal says why with the values.
func TestS12ConfigCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string // part of the error, empty if it is accepted
	}{
		{"as it is", func(*Config) {}, ""},
		{"clock error of zero", func(c *Config) { c.ClockError = 0 }, ""},
		{"largest clock error", func(c *Config) { c.ClockError = MaxClockError }, ""},
		{"clock error too large", func(c *Config) { c.ClockError = 0.11 }, "clock error 0.11 must be between 0 and 0.1"},
		{"negative clock error", func(c *Config) { c.ClockError = -0.01 }, "clock error -0.01"},
		{"clock error that is no number", func(c *Config) { c.ClockError = math.NaN() }, "clock error NaN"},
		{"no TTL", func(c *Config) { c.TTL = 0 }, "TTL 0s must be positive"},
		{"no renew interval", func(c *Config) { c.RenewEvery = 0 }, "renew interval 0s must be positive"},
		{"negative poll interval", func(c *Config) { c.PollEvery = -1 }, "poll interval -1ns must be positive"},
		{"no call timeout", func(c *Config) { c.CallTimeout = 0 }, "call timeout 0s must be positive"},
		{"no drain", func(c *Config) { c.Drain = 0 }, "drain >= 10ms, but it is 0s"},
		{"shortest drain", func(c *Config) { c.Drain = 10 * time.Millisecond }, ""},
		{"negative grain", func(c *Config) { c.Grain = -1 }, "grain of the clocks -1ns must not be negative"},
		{"grain that eats the lease", func(c *Config) { c.Grain = c.TTL / 3 }, "a lost renewal must leave time for one more"},
		{"TTL beyond any candidate's", func(c *Config) { c.TTL = MaxTTL + 1 }, "must not be above 24h"},
		{"negative priority", func(c *Config) { c.PriorityDelay = -1 }, "priority delay -1ns must not be negative"},
		{"negative spread", func(c *Config) { c.BidSpread = -1 }, "bid spread -1ns must not be negative"},
		{"negative failures", func(c *Config) { c.MaxFailures = -1 }, "max failures -1 must not be negative"},
		{"poll once a lease", func(c *Config) { c.PollEvery = c.TTL }, ""},
		{"poll less than once a lease", func(c *Config) { c.PollEvery = c.TTL + 1 }, "poll interval <= TTL, but 10.000000001s > 10s"},
		{"lease just long enough", func(c *Config) { c.RenewEvery = c.Span() - 2*c.CallTimeout }, ""},
		{
			"lease just too short", func(c *Config) { c.RenewEvery = c.Span() - 2*c.CallTimeout + 1 },
			"renew interval + 2 · call timeout <= TTL · (1 - clock error) - grain of the clocks - drain",
		},
		{"drain that eats the lease", func(c *Config) { c.Drain = c.TTL }, "a lost renewal must leave time for one more"},
		{"no first pause", func(c *Config) { c.Backoff.Initial = 0 }, "0 < initial <= max"},
		{"largest pause below the first", func(c *Config) { c.Backoff.Max = c.Backoff.Initial - 1 }, "0 < initial <= max"},
		{"pauses that shrink", func(c *Config) { c.Backoff.Factor = 0.9 }, "factor 0.9 must be at least 1"},
		{"pauses without end", func(c *Config) { c.Backoff.Factor = math.Inf(1) }, "factor +Inf"},
		{"jitter above one", func(c *Config) { c.Backoff.Jitter = 1.1 }, "jitter 1.1 must be between 0 and 1"},
		{"jitter that is no number", func(c *Config) { c.Backoff.Jitter = math.NaN() }, "jitter NaN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := testConfig("a")
			test.change(&c)
			err := c.Check()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("the error is %v, it should contain %q", err, test.want)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	c := testConfig("a")
	c.Grain = 3 * time.Millisecond
	if got := c.LeaseSpan(); got != 9897*time.Millisecond {
		t.Errorf("a lease lasts %v", got)
	}
	if got := c.Span(); got != 7897*time.Millisecond {
		t.Errorf("an attempt is trusted for %v", got)
	}
	if got := c.Wait(c.TTL); got != 10103*time.Millisecond {
		t.Errorf("a follower waits for %v", got)
	}
}

// S1: candidates that disagree on the error of the clocks exclude each other, each by its own margin: the slowest clock
// that one allows lets less pass than the fastest that the other allows.
func TestS1EachSideHasItsOwnMargin(t *testing.T) {
	for _, leader := range []float64{0, 0.001, 0.01, MaxClockError} {
		for _, follower := range []float64{0, 0.001, 0.01, MaxClockError} {
			l, f := testConfig("a"), testConfig("b")
			l.ClockError, f.ClockError = leader, follower
			longest := time.Duration(float64(l.LeaseSpan()) / (1 - leader))
			shortest := time.Duration(float64(f.Wait(l.TTL)) / (1 + follower))
			if longest > l.TTL || shortest < l.TTL {
				t.Errorf("errors %v and %v: a lease lasts %v at most, the wait %v at least", leader, follower, longest, shortest)
			}
		}
	}
}
