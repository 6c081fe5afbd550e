package redis

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/tenure-go/tenure"
)

const (
	// defaultPrefix is that of keys and channels without [WithPrefix].
	defaultPrefix = "tenure"
	// prefixLimit bounds a prefix in bytes.
	prefixLimit = 64
	// defaultPing is how long a subscription may be silent without [WithPing].
	defaultPing = 30 * time.Second
	// replicasLimit bounds WithReplicas.
	replicasLimit = 16
)

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	prefix   string
	ping     time.Duration
	replicas int
	within   time.Duration
}

// WithPrefix sets what the names of all keys and channels begin with. Default "tenure". Bounds: 1 to 64 bytes of UTF-8
// without spaces, control characters and braces. Every process that takes part needs the same one.
func WithPrefix(prefix string) Option { return option(func(c *config) { c.prefix = prefix }) }

// WithPing sets after how long a silence of the subscription it is probed with a PING. Whatever arrives is a sign of
// life, so that nothing is sent while a leader renews more often than this. A subscription that does not answer within
// three seconds is taken for lost, and replaced. Default 30 s; at least 1 s, or 0 for no probes: then the loss of a
// connection that is not reset goes unnoticed until a candidate has heard nothing for a lease.
func WithPing(silence time.Duration) Option { return option(func(c *config) { c.ping = silence }) }

// WithReplicas has every write wait (WAIT) until n replicas have acknowledged it, for at most timeout. If fewer do, the
// outcome of the write is unknown to its caller: the master has it, and a fail-over may or may not lose it. Default 0:
// no wait. Bounds: 0 to 16 replicas, and a timeout from 1 ms up to an hour. It should be shorter than the call
// timeout of the candidates, and is cut short to fit.
//
// What it gives: a write that succeeded is on n replicas, so that a fail-over to one of those keeps it. What it does
// not give: that the fail-over elects one of those; that they have it on disk; or that a write which too few have
// acknowledged stays without effect. It has been published, and a candidate that then sees its own record takes it.
func WithReplicas(n int, timeout time.Duration) Option {
	return option(func(c *config) { c.replicas, c.within = n, timeout })
}

func newConfig(options []Option) (config, error) {
	c := config{prefix: defaultPrefix, ping: defaultPing}
	for _, o := range options {
		if o != nil {
			o.apply(&c)
		}
	}
	return c, c.check()
}

func (c config) check() error {
	unfit := func(r rune) bool { return r == '{' || r == '}' || r == unicode.ReplacementChar || unfitForKeys(r) }
	switch {
	case c.prefix == "" || len(c.prefix) > prefixLimit || strings.ContainsFunc(c.prefix, unfit):
		return fmt.Errorf("%w: prefix %q: want 1 to %d bytes of UTF-8 without spaces, control characters and braces",
			tenure.ErrConfig, c.prefix, prefixLimit)
	case c.ping != 0 && c.ping < time.Second:
		return fmt.Errorf("%w: ping after %v: want at least 1s, or 0 for none", tenure.ErrConfig, c.ping)
	case c.replicas < 0 || c.replicas > replicasLimit:
		return fmt.Errorf("%w: %d replicas: want 0 to %d", tenure.ErrConfig, c.replicas, replicasLimit)
	case c.replicas > 0 && (c.within < time.Millisecond || c.within > time.Hour):
		return fmt.Errorf("%w: %v for replicas to acknowledge: want 1ms to 1h", tenure.ErrConfig, c.within)
	}
	return nil
}

func unfitForKeys(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
