package s3

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tenure-go/tenure"
)

// defaultPrefix is that of keys without [WithPrefix].
const defaultPrefix = "tenure/"

// prefixLimit leaves room for a name of 255 bytes, all of them escaped, in a key of 1024 bytes.
const prefixLimit = 200

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct{ prefix string }

// WithPrefix sets what all keys begin with. Default "tenure/". Bounds: at most 200 bytes of UTF-8, empty or not
// beginning with a slash and ending in one. Every process that takes part needs the same one.
func WithPrefix(prefix string) Option { return option(func(c *config) { c.prefix = prefix }) }

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
	if c.prefix == "" {
		return nil
	}
	if len(c.prefix) > prefixLimit || strings.HasPrefix(c.prefix, "/") || !strings.HasSuffix(c.prefix, "/") ||
		!utf8.ValidString(c.prefix) {
		return fmt.Errorf("%w: prefix %q: want at most %d bytes that end in a slash and do not begin with one",
			tenure.ErrConfig, c.prefix, prefixLimit)
	}
	return nil
}
