package s3

import "github.com/tenure-go/tenure/internal/objectstore"

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct{ prefix string }

// WithPrefix sets what all keys begin with. Default "tenure/". Bounds: at most 200 bytes of UTF-8, empty or not
// beginning with a slash and ending in one. Every process that takes part needs the same one.
func WithPrefix(prefix string) Option { return option(func(c *config) { c.prefix = prefix }) }

func newConfig(options []Option) (config, error) {
	c := config{prefix: objectstore.DefaultPrefix}
	for _, o := range options {
		if o != nil {
			o.apply(&c)
		}
	}
	return c, objectstore.CheckPrefix(c.prefix)
}
