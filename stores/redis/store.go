package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// The commands that publish. The sharded one stays on the master of the channel's slot, the plain one would go to every
// node of a Cluster, over links that lose messages without a trace.
const plainPublish, shardedPublish = "PUBLISH", "SPUBLISH"

var (
	_ tenure.Store     = (*Store)(nil)
	_ tenure.Watcher   = (*Store)(nil)
	_ tenure.Lister    = (*Store)(nil)
	_ tenure.Pruner    = (*Store)(nil)
	_ tenure.Guarantor = (*Store)(nil)
)

// Store is a [tenure.Store] in Redis or Valkey. All methods are safe for concurrent use.
type Store struct {
	client  redis.UniversalClient
	owned   bool
	config  config
	layout  layout
	publish string // the command that publishes
	prompt  bool   // the client ends its requests by the deadlines of their contexts
	feed    *feed
	closed  atomic.Bool

	// published says that a write has been, so that the server need not check that it may be.
	published atomic.Bool
}

// New returns a store over the user's client, which stays theirs: a *redis.Client, of one server or by Sentinel
// ([redis.NewFailoverClient]), or a *redis.ClusterClient. It sends nothing yet.
//
// The client should have ContextTimeoutEnabled, as that of [Open] has. A call then ends by the deadline of its context;
// one that is cancelled before may last until then. Without it every call takes a goroutine, which is slower, and a
// request that was given up keeps its connection until the client's read timeout. The client's MaxRetries does not
// matter here: a write is sent once.
//
// The error wraps [tenure.ErrConfig] if the client is of another kind, or an option is out of bounds.
func New(client redis.UniversalClient, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	s := &Store{client: client, config: c, publish: plainPublish, layout: layout{prefix: c.prefix}}
	switch client := client.(type) {
	case *redis.Client:
		s.layout.db, s.prompt = client.Options().DB, client.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		s.publish, s.prompt = shardedPublish, client.Options().ContextTimeoutEnabled
	default:
		return nil, fmt.Errorf("redis: %w: a client of type %T: want *redis.Client or *redis.ClusterClient; "+
			"a Ring may find a key on one server now and on another one later", tenure.ErrConfig, client)
	}
	s.feed = newFeed(s)
	return s, nil
}

// Close ends the store and its subscription, and the client if [Open] made it. Every later call fails with
// [tenure.ErrPermanent], and each watch is told so by a last delivery before Close returns. Close may be called more
// than once, but not from within a deliver function. It waits for a connection that is just being made, for as long as
// the client's read timeout at most. The error is that of closing the client.
func (s *Store) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	s.feed.close()
	if s.owned {
		return s.client.Close()
	}
	return nil
}

// enter refuses a call that can do nothing.
func (s *Store) enter(ctx context.Context, election string) error {
	if s.closed.Load() {
		return errClosed
	}
	if err := tenure.CheckElection(election); err != nil {
		return tenure.Permanent(err)
	}
	return ctx.Err()
}

// Load implements [tenure.Store]. It asks the master.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := s.load(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("redis: loading %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, err
	}
	reply, err := call(ctx, s.prompt, func() (any, error) { return s.read(ctx, s.layout.keys(election)) })
	if err != nil {
		return tenure.Snapshot{}, failed(err)
	}
	fields, ok := reply.([]any)
	if !ok || len(fields) != 2 {
		return tenure.Snapshot{}, damaged(s.layout.record(election), fmt.Errorf("unexpected reply %v", reply))
	}
	text, _ := fields[1].(string)
	if version, exists := fields[0].(string); exists {
		return s.decode(election, version, text)
	}
	return s.missing(election, text)
}

// read returns version and record, or nil and the floor.
func (s *Store) read(ctx context.Context, keys []string) (any, error) {
	if !s.sharded() {
		return loadScript.eval(ctx, s.client, keys[:2])
	}
	// While a slot moves, a Cluster refuses a command on several keys one of which is not there. So the record is read
	// alone, and the floor only if there is none.
	reply, err := loadScript.eval(ctx, s.client, keys[:1])
	if fields, ok := reply.([]any); err == nil && ok && len(fields) == 2 && fields[0] == nil {
		fields[1], err = s.client.Get(ctx, keys[1]).Result()
		if errors.Is(err, redis.Nil) {
			fields[1], err = "0", nil
		}
	}
	return reply, err
}

func (s *Store) decode(election, version, text string) (tenure.Snapshot, error) {
	snapshot := tenure.Snapshot{Version: tenure.Version(version)}
	if err := json.Unmarshal([]byte(text), &snapshot.Record); err != nil {
		return tenure.Snapshot{}, damaged(s.layout.record(election), err)
	}
	return snapshot, nil
}

// missing is the snapshot of an election without a record, under the floor of its bucket.
func (s *Store) missing(election, floor string) (tenure.Snapshot, error) {
	token, err := strconv.ParseUint(floor, 10, 64)
	if err != nil || token > tenure.MaxToken {
		return tenure.Snapshot{}, damaged(s.layout.floor(bucket(election)), fmt.Errorf("%q is no token", floor))
	}
	return tenure.Snapshot{Record: tenure.Record{Token: token}}, nil
}

// CompareAndSwap implements [tenure.Store]. If something between here and the server repeats the request, the
// repetition has the answer of the first.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	snapshot, err := s.swap(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("redis: writing %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) swap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, err
	}
	text, err := encode(record)
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	version := next(old)
	keys, args := s.arguments(election, old, version, record, text)
	written, err := call(ctx, s.prompt, func() (any, error) { return s.write(ctx, keys, args) })
	if err != nil {
		return tenure.Snapshot{}, failed(err)
	}
	if written == nil {
		return tenure.Snapshot{}, tenure.ErrConflict
	}
	s.published.Store(true)
	return tenure.Snapshot{Version: version, Record: record.Clone()}, nil
}

// arguments returns those of the script that swaps. What a new record needs more would be in the way of others: while a
// slot moves, a Cluster refuses a command on several keys one of which is not there.
func (s *Store) arguments(
	election string, old, version tenure.Version, record tenure.Record, text []byte,
) (keys []string, args []any) {
	keys = s.layout.keys(election)
	args = []any{
		string(old), string(version), text, s.publish, s.layout.channel(election), number(!s.published.Load()),
	}
	if old != "" {
		return keys[:1], args
	}
	return keys, append(args, record.Token, number(record.Vacant()), election)
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// encode refuses what could not be read again.
func encode(r tenure.Record) ([]byte, error) {
	switch {
	case r.Token > tenure.MaxToken:
		return nil, fmt.Errorf("token %d is above the largest", r.Token)
	case r.TTL < 0 || r.TTL > tenure.MaxTTL:
		return nil, fmt.Errorf("a TTL of %v is out of bounds", r.TTL)
	case !r.Vacant() && (r.Session == "" || r.TTL == 0):
		return nil, fmt.Errorf("the record names leader %q without a session and a TTL", r.Leader)
	}
	return json.Marshal(r)
}

func (s *Store) write(ctx context.Context, keys []string, args []any) (any, error) {
	if s.config.replicas > 0 {
		return s.writeAndWait(ctx, keys, args)
	}
	return swapScript.eval(ctx, s.client, keys, args...)
}

// next returns the version of a write over another one: the count of writes, for people, and a random number. That
// tells a write from all others, so that a version does not recur when a record is made anew, a server starts without
// its data, or a replica takes over that had not yet got the last writes.
func next(old tenure.Version) tenure.Version {
	count, _, _ := strings.Cut(string(old), "-")
	n, _ := strconv.ParseUint(count, 10, 64) // of a version that is none of ours it does not matter: it conflicts
	return tenure.Version(fmt.Sprintf("%d-%016x", n+1, rand.Uint64()))
}

// master returns the client of the server that has a key.
func (s *Store) master(ctx context.Context, key string) (*redis.Client, error) {
	switch client := s.client.(type) {
	case *redis.Client:
		return client, nil
	case *redis.ClusterClient:
		return client.MasterForKey(ctx, key)
	}
	return nil, errors.ErrUnsupported // New has refused it
}

func (s *Store) sharded() bool { return s.publish == shardedPublish }

// reroute has the client of a Cluster find out again which server has which slots.
func (s *Store) reroute(ctx context.Context) {
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		cluster.ReloadState(ctx)
	}
}
