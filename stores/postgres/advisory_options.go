package postgres

import (
	"fmt"
	"maps"
	"time"

	"github.com/tenure-go/tenure"
)

// Bounds of the options of [NewAdvisory].
const (
	minValidation, maxValidation = 10 * time.Millisecond, time.Minute
	minKeepalive, maxKeepalive   = time.Second, 2 * time.Hour
	maxProbes                    = 100
)

// advisoryConfig is what the options of an [Advisory] fill in.
type advisoryConfig struct {
	every, patience time.Duration // of validations
	keepalive       keepalive
	locks           map[string]int64
	duplicate       string // an election with an ID that another one has
}

// keepalive is by what the server notices that the other end of a connection is gone.
type keepalive struct {
	idle, interval time.Duration
	probes         int
	unacknowledged time.Duration
}

// advisoryOption is an [Option] for [NewAdvisory] alone.
type advisoryOption func(*advisoryConfig)

func (o advisoryOption) apply(*config) {}

// WithValidation sets how often a leader makes sure that it still holds its lock, and how long the answer may take. It
// reads and writes nothing. What breaks the connection visibly is noticed at once; this is for what breaks it silently,
// such as a lost network: the term of such a leader ends after every + timeout at the latest, and never later than its
// lease. Defaults 1 s and 3 s; bounds 10 ms and 1 min each. For [NewAdvisory].
func WithValidation(every, timeout time.Duration) Option {
	return advisoryOption(func(c *advisoryConfig) { c.every, c.patience = every, timeout })
}

// validateEvery and validateWithin set the one and the other alone.
func validateEvery(d time.Duration) Option {
	return advisoryOption(func(c *advisoryConfig) { c.every = d })
}

func validateWithin(d time.Duration) Option {
	return advisoryOption(func(c *advisoryConfig) { c.patience = d })
}

// refuseAdvisory returns an error if there is an option that the table alone has no use for.
func refuseAdvisory(options []Option) error {
	for _, o := range options {
		if _, is := o.(advisoryOption); is {
			return fmt.Errorf("%w: an option for advisory locks needs NewAdvisory, or mode=%s", tenure.ErrConfig, modeAdvisory)
		}
	}
	return nil
}

// WithKeepalive sets when the server gives up a leader's connection, and with it the lock, because its other end does
// not answer any more, as after a loss of power: idle is how long it hears nothing before it asks, interval how long it
// waits before it asks again, and probes how often it asks in vain. Only the connections that hold locks are concerned.
// Where the pool's configuration has settings of its own for that, such as tcp_keepalives_idle, they are kept. Defaults
// 5 s, 1 s and 5; bounds 1 s and 2 h, in whole seconds, and 1 to 100. For [NewAdvisory].
func WithKeepalive(idle, interval time.Duration, probes int) Option {
	return advisoryOption(func(c *advisoryConfig) {
		c.keepalive.idle, c.keepalive.interval, c.keepalive.probes = idle, interval, probes
	})
}

// WithUserTimeout sets how long what the server has sent on a leader's connection may remain unacknowledged until it
// gives the connection up, and with it the lock. Where the server's system has no such timer it is without effect.
// Default 10 s; bounds 1 s and 2 h, in whole milliseconds. For [NewAdvisory].
func WithUserTimeout(d time.Duration) Option {
	return advisoryOption(func(c *advisoryConfig) { c.keepalive.unacknowledged = d })
}

// WithLockID sets the ID of an election's lock, so that other programs which use that ID are excluded. All candidates
// must agree on it, and no two elections can have the same. Without it the ID is that of [LockID]. For [NewAdvisory].
func WithLockID(election string, id int64) Option {
	return advisoryOption(func(c *advisoryConfig) {
		for other, taken := range c.locks {
			if taken == id && other != election {
				c.duplicate = election
			}
		}
		c.locks = maps.Clone(c.locks)
		if c.locks == nil {
			c.locks = map[string]int64{}
		}
		c.locks[election] = id
	})
}

// splitAdvisory separates the options of the mode from those of the table.
func splitAdvisory(options []Option) (*advisoryConfig, []Option) {
	c := &advisoryConfig{
		every: time.Second, patience: 3 * time.Second,
		keepalive: keepalive{idle: 5 * time.Second, interval: time.Second, probes: 5, unacknowledged: 10 * time.Second},
	}
	var rest []Option
	for _, o := range options {
		if own, ok := o.(advisoryOption); ok {
			own(c)
		} else {
			rest = append(rest, o)
		}
	}
	return c, rest
}

func (c *advisoryConfig) check() error {
	if c.duplicate != "" {
		return fmt.Errorf("%w: the lock ID %d of election %q is that of another election, too",
			tenure.ErrConfig, c.locks[c.duplicate], c.duplicate)
	}
	for election := range c.locks {
		if err := tenure.CheckElection(election); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		what                string
		value, lowest, most time.Duration
		unit                time.Duration
	}{
		{"an interval of validations", c.every, minValidation, maxValidation, 1},
		{"a timeout of validations", c.patience, minValidation, maxValidation, 1},
		{"an idle time before keepalives", c.keepalive.idle, minKeepalive, maxKeepalive, time.Second},
		{"an interval of keepalives", c.keepalive.interval, minKeepalive, maxKeepalive, time.Second},
		{"a user timeout", c.keepalive.unacknowledged, minKeepalive, maxKeepalive, time.Millisecond},
	} {
		if d.value < d.lowest || d.value > d.most || d.value%d.unit != 0 {
			return fmt.Errorf("%w: %s of %v is not between %v and %v, in units of %v",
				tenure.ErrConfig, d.what, d.value, d.lowest, d.most, d.unit)
		}
	}
	if n := c.keepalive.probes; n < 1 || n > maxProbes {
		return fmt.Errorf("%w: %d keepalive probes are not between 1 and %d", tenure.ErrConfig, n, maxProbes)
	}
	return nil
}
