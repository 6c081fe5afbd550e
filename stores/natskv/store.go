package natskv

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/feed"
)

var (
	_ tenure.Store     = (*Store)(nil)
	_ tenure.Watcher   = (*Store)(nil)
	_ tenure.Lister    = (*Store)(nil)
	_ tenure.Pruner    = (*Store)(nil)
	_ tenure.Guarantor = (*Store)(nil)
)

// Store is a [tenure.Store] in a bucket of NATS JetStream's key-value store. All methods are safe for concurrent use,
// by any number of Stores on the same bucket in any number of processes.
type Store struct {
	js     jetstream.JetStream
	conn   *nats.Conn
	owned  bool // Open made the connection
	config *config
	bucket string
	api    string // prefix of requests to JetStream
	put    string // prefix of the subjects to publish to

	preparing chan struct{} // holds a value while a call prepares the bucket
	prepared  atomic.Bool

	feeds *feed.Feeds[entry]
}

// New returns a store in the bucket. It makes no request: the first call that needs the bucket looks for it, makes it
// if it is missing (see [WithExistingBucket]), and refuses it with [tenure.ErrPermanent] if its settings could lose a
// record. The error of New wraps [tenure.ErrConfig].
//
// The connection stays the caller's, who closes it after the store. It should reconnect without limit
// (nats.MaxReconnects(-1)) and soon (nats.ReconnectWait), buffer nothing meanwhile (nats.ReconnectBufSize(-1)), and
// notice a server that does not answer well within a lease (nats.PingInterval, nats.MaxPingsOutstanding). It should not
// give up when it is refused twice (nats.IgnoreAuthErrorAbort). And it should reconnect (ForceReconnect) a while after
// its error handler was told that a subscription is not permitted: NATS removes subscriptions together with the right
// to them, and does not restore them together with it. [Open] makes one that does all that.
func New(js jetstream.JetStream, bucket string, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err == nil {
		err = checkBucket(bucket)
	}
	if err == nil && js == nil {
		err = fmt.Errorf("%w: no JetStream context is given", tenure.ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("natskv: %w", err)
	}
	s := &Store{
		js: js, conn: js.Conn(), config: c, bucket: bucket, api: apiPrefix(js.Options()),
		preparing: make(chan struct{}, 1),
	}
	s.feeds = newFeeds(s)
	s.put = publishPrefix(js, bucket)
	return s, nil
}

// publishPrefix is what the subjects to publish to begin with, so that another domain or account gets the message.
func publishPrefix(js jetstream.JetStream, bucket string) string {
	if api := apiPrefix(js.Options()); api != jetstream.DefaultAPIPrefix {
		return api + subjectOf(bucket, "")
	}
	return subjectOf(bucket, "")
}

func apiPrefix(o jetstream.JetStreamOptions) string {
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	}
	return jetstream.DefaultAPIPrefix
}

func (s *Store) stream() string { return streamOf(s.bucket) }

func (s *Store) subject(key string) string { return subjectOf(s.bucket, key) }

// streamOf is the name of the stream that every client of the key-value store uses for a bucket.
func streamOf(bucket string) string { return "KV_" + bucket }

func subjectOf(bucket, key string) string { return "$KV." + bucket + "." + key }

// Close ends the store: every later call fails with [tenure.ErrPermanent], and each watch is told so by a last delivery
// before Close returns. It closes the connection if [Open] made it. Close may be called more than once, but not from
// within a deliver function. Stop the candidates first. The error is always nil.
func (s *Store) Close() error {
	s.feeds.Close()
	if s.owned {
		s.conn.Close()
	}
	return nil
}

// Load implements [tenure.Store]. It asks the leader of the stream, not a replica that may lag behind.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := s.load(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("natskv: loading %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, err
	}
	e, err := s.get(ctx, key(election))
	if err != nil || e.exists() {
		return snapshotOf(e, 0, err)
	}
	floor, err := s.floor(ctx)
	return snapshotOf(e, floor, err)
}

func snapshotOf(e entry, floor uint64, err error) (tenure.Snapshot, error) {
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return e.Snapshot(floor)
}

// enter refuses a call that can do nothing, and has the bucket ready for one that can.
func (s *Store) enter(ctx context.Context, election string) error {
	if err := tenure.CheckElection(election); err != nil {
		return tenure.Permanent(err)
	}
	return s.ready(ctx)
}

// usable returns why no call can succeed now. A request that is made while there is no connection could be sent much
// later, when nobody waits for it any more.
func (s *Store) usable() error {
	switch {
	case s.feeds.Closed():
		return errClosed
	case s.conn.IsClosed():
		return errConnectionClosed
	case !s.conn.IsConnected():
		return errDisconnected
	}
	return nil
}
