package etcd

import (
	"context"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

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

// patience bounds requests whose caller has set no bound.
const patience = 5 * time.Second

// Store is a [tenure.Store] in etcd. All methods are safe for concurrent use, by any number of Stores with the same
// prefix in any number of processes.
type Store struct {
	client *clientv3.Client
	owned  bool // Open made the client
	config *config
	names  names
	kv     pb.KVClient // which repeats no request, unlike the client's own
	feeds  *feed.Feeds[entry]
}

// New returns a store over a client. It makes no request. The error wraps [tenure.ErrConfig].
//
// The client stays the caller's, who closes it after the store. It should connect again soon after a failure
// (DialOptions with grpc.WithConnectParams: by default the client waits up to two minutes) and notice a member that
// does not answer (DialKeepAliveTime, DialKeepAliveTimeout). [Open] makes one that does. The store makes its own
// requests over the client's connection: a namespace that was put around the client's KV is passed by, so give the
// prefix to [WithPrefix].
func New(client *clientv3.Client, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err == nil && (client == nil || client.ActiveConnection() == nil) {
		err = fmt.Errorf("%w: no client with a connection is given", tenure.ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	s := &Store{client: client, config: c, names: names{c.prefix}, kv: pb.NewKVClient(client.ActiveConnection())}
	s.feeds = feed.New(feed.Config[entry]{
		Read: s.read, Closed: errClosed,
		Explain: func(election string, err error) error { return fmt.Errorf("etcd: watching %q: %w", election, err) },
	})
	return s, nil
}

// Close ends the store: every later call fails with [tenure.ErrPermanent], and each watch is told so by a last delivery
// before Close returns. It closes the client if [Open] made it. Close may be called more than once, but not from within
// a deliver function. Stop the candidates first. The error is always nil.
func (s *Store) Close() error {
	s.feeds.Close()
	if s.owned {
		_ = s.client.Close() // says that its context was cancelled, by itself
	}
	return nil
}

// Load implements [tenure.Store]. A majority of the members confirm what it returns.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := s.load(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("etcd: loading %q: %w", election, err)
	}
	return snapshot, nil
}

// load reads the record and the floor at one revision.
func (s *Store) load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.enter(election); err != nil {
		return tenure.Snapshot{}, err
	}
	held, err := s.get(ctx, s.names.key(election), s.names.floor())
	if err != nil {
		return tenure.Snapshot{}, err
	}
	record := held[0]
	if record.exists() {
		return record.Snapshot(0)
	}
	floor, err := held[1].floor()
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return record.Snapshot(floor)
}

// enter refuses a call that can do nothing.
func (s *Store) enter(election string) error {
	if err := tenure.CheckElection(election); err != nil {
		return tenure.Permanent(err)
	}
	return s.usable()
}

// usable returns why no call can succeed any more.
func (s *Store) usable() error {
	switch {
	case s.feeds.Closed():
		return errClosed
	case s.client.Ctx().Err() != nil:
		return errClientClosed
	}
	return nil
}
