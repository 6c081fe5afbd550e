package memcached

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure"
)

// Store is a [tenure.Store] in memcached. All methods are safe for concurrent use.
type Store struct {
	client *memcache.Client
	config config
	seen   *seen
	calls  calls
	owned  bool // the client was made by Open
}

// content is the value of an election's key. Changing it means changing README.md.
type content struct {
	Format   int            `json:"tenure_memcached"`
	Election string         `json:"election"`
	Version  tenure.Version `json:"version"`
	Record   *tenure.Record `json:"record"`
}

// New returns a store over the user's client, which stays theirs. Its timeout bounds how long a call goes on after its
// context has ended. Every process that takes part needs a client that picks the same server for the same key: with
// [memcache.New], the same servers in the same order.
//
// The error wraps [tenure.ErrConfig] if there is no client or an option is out of bounds.
func New(client *memcache.Client, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err == nil && client == nil {
		err = fmt.Errorf("%w: the client is nil", tenure.ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("memcached: %w", err)
	}
	return &Store{client: client, config: c, seen: newSeen(c.observe)}, nil
}

// Close ends the store, and the client if [Open] made it. It waits for requests under way, for as long as the client's
// timeout at most. Close may be called more than once. The error is that of closing the client's connections.
func (s *Store) Close() error {
	s.calls.close()
	if s.owned {
		return s.client.Close()
	}
	return nil
}

// Load implements [tenure.Store]. Of a record that is missing it returns the highest token that this Store has seen of
// the election, so that the next term starts above it.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	_, snapshot, err := s.get(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("memcached: loading %q: %w", election, err)
	}
	return snapshot, nil
}

// CompareAndSwap implements [tenure.Store]. It takes two requests: one that compares versions, and one that writes
// unless the item was touched in between.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	item, current, err := s.get(ctx, election)
	switch {
	case err != nil:
		err = refused(err)
	case current.Version != old:
		err = tenure.ErrConflict
	default:
		current, err = s.put(ctx, item, election, record.Clone())
	}
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("memcached: swapping %q: %w", election, err)
	}
	return current, nil
}

// get returns the item to write to, with what it holds now.
func (s *Store) get(ctx context.Context, election string) (*memcache.Item, tenure.Snapshot, error) {
	if err := tenure.CheckElection(election); err != nil {
		return nil, tenure.Snapshot{}, tenure.Permanent(err)
	}
	key := s.config.key(election)
	since := s.seen.now()
	item, err := do(ctx, &s.calls, func() (*memcache.Item, error) { return s.client.Get(key) })
	if errors.Is(err, memcache.ErrCacheMiss) {
		return &memcache.Item{Key: key}, s.seen.see(election, since, tenure.Snapshot{}), nil
	}
	if err != nil {
		return nil, tenure.Snapshot{}, failed(err)
	}
	var held content
	if err := json.Unmarshal(item.Value, &held); err != nil || held.check(election) != nil {
		return nil, tenure.Snapshot{}, foreign(key, errors.Join(err, held.check(election)))
	}
	current := tenure.Snapshot{Version: held.Version, Record: *held.Record}
	return item, s.seen.see(election, since, current), nil
}

// put writes to an item that get has returned. The version is drawn anew for every write: memcached's own number
// starts again when the server does.
func (s *Store) put(
	ctx context.Context, item *memcache.Item, election string, record tenure.Record,
) (tenure.Snapshot, error) {
	next := tenure.Snapshot{Version: tenure.Version(rand.Text()), Record: record}
	value, err := json.Marshal(content{format, election, next.Version, &record})
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	write := s.client.CompareAndSwap
	if item.CasID == 0 {
		write = s.client.Add
	}
	since := s.seen.now()
	_, err = do(ctx, &s.calls, func() (struct{}, error) {
		return struct{}{}, write(&memcache.Item{Key: item.Key, Value: value, CasID: item.CasID})
	})
	if err != nil {
		return tenure.Snapshot{}, written(err)
	}
	return s.seen.see(election, since, next), nil
}
