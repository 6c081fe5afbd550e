package natskv

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

// Bounds and default of [WithHeartbeat].
const (
	DefaultHeartbeat = time.Second
	MinHeartbeat     = 100 * time.Millisecond
	MaxHeartbeat     = 30 * time.Second
)

// maxReplicas is the most that a NATS server allows.
const maxReplicas = 5

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options fill in.
type config struct {
	replicas    int // 0: not said
	storage     *jetstream.StorageType
	cluster     string
	tags        []string
	description string
	existing    bool
	synced      bool
	heartbeat   time.Duration
}

// WithReplicas sets how many servers hold the bucket: 1 to 5, odd numbers make sense. Default 1 for a bucket that is
// made, and whatever it has for one that exists. A bucket that exists with another number is refused, not changed.
func WithReplicas(n int) Option {
	return option(func(c *config) {
		if c.replicas = n; n == 0 {
			c.replicas = -1 // what was said and cannot be is refused by check
		}
	})
}

// WithStorage sets where the servers keep the bucket. Default [jetstream.FileStorage] for a bucket that is made, and
// whatever it has for one that exists. A bucket that exists with another storage is refused. A bucket in memory loses
// everything, fencing tokens included, when its servers restart.
func WithStorage(s jetstream.StorageType) Option { return option(func(c *config) { c.storage = &s }) }

// WithPlacement sets in which cluster, and on servers with which tags, a bucket is made. An empty cluster is any. It
// has no effect on a bucket that exists. Default: the server decides.
func WithPlacement(cluster string, tags ...string) Option {
	return option(func(c *config) { c.cluster, c.tags = cluster, slices.Clone(tags) })
}

// WithDescription sets the description of a bucket that is made. It has no effect on one that exists.
func WithDescription(text string) Option { return option(func(c *config) { c.description = text }) }

// WithExistingBucket never makes the bucket: if it is missing, calls fail with [tenure.ErrPermanent] and
// [tenure.ErrNoStore]. It is for processes that may not make streams, or only look. Options that say what the bucket is
// like still check it.
func WithExistingBucket() Option { return option(func(c *config) { c.existing = true }) }

// WithSyncedServers states that every server that holds the bucket is configured with sync_interval: always. A client
// cannot see that; [Store.Guarantee] takes it from here. Default: not stated.
func WithSyncedServers() Option { return option(func(c *config) { c.synced = true }) }

// WithHeartbeat sets how often the server gives the watch a sign of life while nothing changes; after two and a half
// intervals of silence the watch is taken to be interrupted, and restored. It costs one small message from the server
// for each interval and Store, and none to it. Default [DefaultHeartbeat], bounds [MinHeartbeat] and [MaxHeartbeat].
func WithHeartbeat(d time.Duration) Option { return option(func(c *config) { c.heartbeat = d }) }

func newConfig(options []Option) (*config, error) {
	c := &config{heartbeat: DefaultHeartbeat}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	return c, c.check()
}

func (c *config) check() error {
	switch {
	case c.replicas < 0 || c.replicas > maxReplicas:
		return fmt.Errorf("%w: the number of replicas must be between 1 and %d", tenure.ErrConfig, maxReplicas)
	case c.storage != nil && *c.storage != jetstream.FileStorage && *c.storage != jetstream.MemoryStorage:
		return fmt.Errorf("%w: storage %d: want file or memory", tenure.ErrConfig, *c.storage)
	case c.heartbeat < MinHeartbeat || c.heartbeat > MaxHeartbeat:
		return fmt.Errorf("%w: heartbeat %v must be between %v and %v",
			tenure.ErrConfig, c.heartbeat, MinHeartbeat, MaxHeartbeat)
	}
	return nil
}

var validBucket = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func checkBucket(name string) error {
	if !validBucket.MatchString(name) {
		return fmt.Errorf("%w: the bucket %q: want letters, digits, - and _", tenure.ErrConfig, name)
	}
	return nil
}
