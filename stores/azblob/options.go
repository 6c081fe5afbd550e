package azblob

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
)

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	prefix    string
	create    bool
	leaseBlob string
}

// WithPrefix sets what the names of all blobs begin with. Default "tenure/". Bounds: at most 200 bytes of UTF-8, empty
// or not beginning with a slash and ending in one. Every process that takes part needs the same one.
func WithPrefix(prefix string) Option { return option(func(c *config) { c.prefix = prefix }) }

// WithCreate sets whether the store makes the container if it does not exist. Default false: then every call fails with
// [tenure.ErrPermanent] until somebody has made it.
func WithCreate(create bool) Option { return option(func(c *config) { c.create = create }) }

// WithBlobLease has whoever leads hold the lease of a blob too, so that programs which elect their leader by the lease
// of that blob are excluded, and exclude. blob is its name in the same container, in which * stands for the name of the
// election; it is made if it does not exist. Default none. Every process that takes part needs the same one, and a TTL
// of at most 60 seconds, which is the longest that a lease of a blob can last without being infinite.
//
// Among candidates of this library the record decides, as without the option.
func WithBlobLease(blob string) Option { return option(func(c *config) { c.leaseBlob = blob }) }

func newConfig(options []Option) (config, error) {
	c := config{prefix: objectstore.DefaultPrefix}
	for _, o := range options {
		if o != nil {
			o.apply(&c)
		}
	}
	return c, c.check()
}

func (c config) check() error {
	const limit = objectstore.PrefixLimit
	if len(c.leaseBlob) > limit || !utf8.ValidString(c.leaseBlob) || strings.HasPrefix(c.leaseBlob, "/") {
		return fmt.Errorf("%w: the blob of the lease, %q: want at most %d bytes that do not begin with a slash",
			tenure.ErrConfig, c.leaseBlob, limit)
	}
	return objectstore.CheckPrefix(c.prefix)
}
