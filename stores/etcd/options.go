package etcd

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
)

// Defaults and bounds of the options.
const (
	DefaultPrefix = "tenure/"
	MaxPrefix     = 256 // bytes

	DefaultPing = 5 * time.Second
	MinPing     = 100 * time.Millisecond
	MaxPing     = 10 * time.Minute
)

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options fill in.
type config struct {
	prefix string
	ping   time.Duration
}

// WithPrefix sets what all keys of the store begin with: at most [MaxPrefix] bytes that end in a slash. Default
// [DefaultPrefix]. Nothing else should have keys below it, another prefix included.
func WithPrefix(prefix string) Option { return option(func(c *config) { c.prefix = prefix }) }

// WithPing sets how long the watch may be silent before the member is asked for a sign of life. If none comes within
// three seconds the watch is taken to be interrupted, and restored. It costs one small message for each such silence
// and Store; where a leader renews more often than that there is none. Default [DefaultPing], bounds [MinPing] and
// [MaxPing].
func WithPing(silence time.Duration) Option { return option(func(c *config) { c.ping = silence }) }

func newConfig(options []Option) (*config, error) {
	c := &config{prefix: DefaultPrefix, ping: DefaultPing}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	return c, c.check()
}

func (c *config) check() error {
	switch {
	case !strings.HasSuffix(c.prefix, "/") || len(c.prefix) > MaxPrefix || strings.Contains(c.prefix, "\x00"):
		return fmt.Errorf("%w: the prefix %q: want at most %d bytes that end in a slash, without zeros",
			tenure.ErrConfig, c.prefix, MaxPrefix)
	case c.ping < MinPing || c.ping > MaxPing:
		return fmt.Errorf("%w: ping %v must be between %v and %v", tenure.ErrConfig, c.ping, MinPing, MaxPing)
	}
	return nil
}
