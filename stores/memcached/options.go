package memcached

import (
	"fmt"
	"strings"

	"github.com/tenure-go/tenure"
)

// defaultPrefix is that of keys without [WithPrefix].
const defaultPrefix = "tenure/"

// prefixLimit leaves room in a key for a digest and something readable.
const prefixLimit = 128

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	prefix  string
	observe func(Loss)
}

// WithPrefix sets what the keys of all elections begin with. Default "tenure/". Bounds: at most 128 bytes, without
// spaces and control characters. Every process that takes part needs the same one.
func WithPrefix(prefix string) Option { return option(func(c *config) { c.prefix = prefix }) }

// WithLossObserver has f called for every [Loss] that a call of this Store comes upon, before that call returns: f must
// be quick, must be safe for concurrent use, and must not call the Store. Default: nobody is told, but
// [Store.Guarantee] counts.
func WithLossObserver(f func(Loss)) Option { return option(func(c *config) { c.observe = f }) }

func newConfig(options []Option) (config, error) {
	c := config{prefix: defaultPrefix}
	for _, o := range options {
		if o != nil {
			o.apply(&c)
		}
	}
	return c, c.check()
}

func (c config) check() error {
	illegal := func(r rune) bool { return r <= ' ' || r == 0x7f }
	if len(c.prefix) > prefixLimit || strings.ContainsFunc(c.prefix, illegal) {
		return fmt.Errorf("%w: prefix %q: want at most %d bytes without spaces and control characters",
			tenure.ErrConfig, c.prefix, prefixLimit)
	}
	return nil
}
