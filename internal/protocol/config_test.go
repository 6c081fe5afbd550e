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
		{"largest clock error", func(c *Config) { c.ClockError, c.Drain = MaxClockError, 0 }, ""},
		{"clock error too large", func(c *Config) { c.ClockError = 0.11 }, "clock error 0.11 must be between 0 and 0.1"},
		{"negative clock error", func(c *Config) { c.ClockError = -0.01 }, "clock error -0.01"},
		{"clock error that is no number", func(c *Config) { c.ClockError = math.NaN() }, "clock error NaN"},
		{"no TTL", func(c *Config) { c.TTL = 0 }, "TTL 0s must be positive"},
		{"no renew interval", func(c *Config) { c.RenewEvery = 0 }, "renew interval 0s must be positive"},
		{"negative poll interval", func(c *Config) { c.PollEvery = -1 }, "poll interval -1ns must be positive"},
		{"no call timeout", func(c *Config) { c.CallTimeout = 0 }, "call timeout 0s must be positive"},
		{"negative drain", func(c *Config) { c.Drain = -time.Second }, "drain -1s must not be negative"},
		{"negative priority", func(c *Config) { c.PriorityDelay = -1 }, "priority delay -1ns must not be negative"},
		{"negative spread", func(c *Config) { c.BidSpread = -1 }, "bid spread -1ns must not be negative"},
		{"negative failures", func(c *Config) { c.MaxFailures = -1 }, "max failures -1 must not be negative"},
		{"poll once a lease", func(c *Config) { c.PollEvery = c.TTL }, ""},
		{"poll less than once a lease", func(c *Config) { c.PollEvery = c.TTL + 1 }, "poll interval <= TTL, but 10.000000001s > 10s"},
		{"lease just long enough", func(c *Config) { c.RenewEvery = c.Span() - 2*c.CallTimeout }, ""},
		{
			"lease just too short", func(c *Config) { c.RenewEvery = c.Span() - 2*c.CallTimeout + 1 },
			"renew interval + 2 · call timeout <= TTL · (1 - 2 · clock error) - drain",
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
	if got := c.LeaseSpan(); got != 9800*time.Millisecond {
		t.Errorf("a lease lasts %v", got)
	}
	if got := c.Span(); got != 7800*time.Millisecond {
		t.Errorf("an attempt is trusted for %v", got)
	}
}
