package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/floor"
)

var (
	_ tenure.Store     = (*Store)(nil)
	_ tenure.Watcher   = (*Store)(nil)
	_ tenure.Lister    = (*Store)(nil)
	_ tenure.Pruner    = (*Store)(nil)
	_ tenure.Guarantor = (*Store)(nil)
)

var errClosed = tenure.Permanent(errors.New("the store is closed"))

// Store is a [tenure.Store] in memory. All methods are safe for concurrent use. Records are copied on the way in and
// on the way out. A call whose context has ended does nothing and returns the context's error.
type Store struct {
	mu       sync.Mutex
	seats    map[string]*seat
	floor    uint64 // the highest token that was ever pruned
	sequence uint64 // the version of the last write
	closed   bool

	due        []*watch  // what has changed since its last delivery, in order
	delivering bool      // whether the goroutine that empties due runs
	active     *watch    // what is being delivered to right now
	delivered  sync.Cond // on mu: active or delivering has changed
}

// seat is what the store keeps of one election: its record if there is a version, and the watches of it.
type seat struct {
	version tenure.Version
	record  tenure.Record
	changed time.Time
	watches []*watch
}

// New returns an empty store. No version of it is ever a version of another store of the process.
func New() *Store {
	// A random start keeps a version that somebody remembers from an earlier store from meaning anything in this one.
	s := &Store{seats: make(map[string]*seat), sequence: rand.Uint64()}
	s.delivered.L = &s.mu
	return s
}

// Load implements [tenure.Store]. It fails only after the end of ctx, or with [tenure.ErrPermanent] after Close.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.enter(ctx); err != nil {
		return tenure.Snapshot{}, fmt.Errorf("memory: loading %q: %w", election, err)
	}
	snapshot := s.snapshot(election)
	s.mu.Unlock()
	return isolated(snapshot), nil
}

// CompareAndSwap implements [tenure.Store]. No outcome of it is ever unknown: besides [tenure.ErrConflict] it fails
// only with [tenure.ErrNotApplied] after the end of ctx and with [tenure.ErrPermanent] after Close. A new record that
// does not start above the floor of [Store.Prune] is a conflict too: its writer has not seen the current state.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	record = record.Clone()
	if err := s.enter(ctx); err != nil {
		return tenure.Snapshot{}, fmt.Errorf("memory: swapping %q: %w", election, err)
	}
	if s.version(election) != old || old == "" && floor.Refuses(s.floor, record) {
		s.mu.Unlock()
		return tenure.Snapshot{}, fmt.Errorf("memory: swapping %q: %w", election, tenure.ErrConflict)
	}
	s.write(election, record)
	snapshot := s.snapshot(election)
	s.mu.Unlock()
	return isolated(snapshot), nil
}

// List implements [tenure.Lister].
func (s *Store) List(ctx context.Context) ([]string, error) {
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("memory: listing: %w", err)
	}
	defer s.mu.Unlock()
	var names []string
	for election, seat := range s.seats {
		if seat.version != "" {
			names = append(names, election)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Guarantee implements [tenure.Guarantor].
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.enter(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("memory: guarantee: %w", err)
	}
	s.mu.Unlock()
	return tenure.Guarantee{
		Grade:   tenure.GradeExclusive,
		Reasons: []string{"the record is in the memory of this process and dies with the process, as its candidates do"},
	}, nil
}

// Close ends the store. Every later call fails with [tenure.ErrPermanent], and each watch is told so by a last
// delivery before Close returns. Close may be called more than once, but not from within a deliver function. The
// error is always nil.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		for _, seat := range s.seats {
			s.notify(seat)
		}
	}
	for s.delivering {
		s.delivered.Wait()
	}
	clear(s.seats)
	return nil
}

// enter locks the store for a call. It fails, with the store unlocked, if there is nothing to be done any more.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return tenure.NotApplied(err, 0)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	return nil
}

// snapshot returns the current state. It shares its maps with the store, which replaces but never changes them: it
// can be cloned after the store is unlocked.
func (s *Store) snapshot(election string) tenure.Snapshot {
	if seat := s.seats[election]; seat != nil && seat.version != "" {
		return tenure.Snapshot{Version: seat.version, Record: seat.record}
	}
	return tenure.Snapshot{Record: tenure.Record{Token: s.floor}}
}

func (s *Store) version(election string) tenure.Version {
	if seat := s.seats[election]; seat != nil {
		return seat.version
	}
	return ""
}

func (s *Store) write(election string, record tenure.Record) {
	s.sequence++
	seat := s.seat(election)
	seat.version = tenure.Version(strconv.FormatUint(s.sequence, 36))
	seat.record = record
	seat.changed = time.Now()
	s.notify(seat)
}

// seat returns the election's seat, made if there was none.
func (s *Store) seat(election string) *seat {
	if s.seats[election] == nil {
		s.seats[election] = new(seat)
	}
	return s.seats[election]
}

// drop forgets a seat that has neither a record nor a watch.
func (s *Store) drop(election string) {
	if seat := s.seats[election]; seat != nil && seat.version == "" && len(seat.watches) == 0 {
		delete(s.seats, election)
	}
}

func isolated(snapshot tenure.Snapshot) tenure.Snapshot {
	snapshot.Record = snapshot.Record.Clone()
	return snapshot
}
