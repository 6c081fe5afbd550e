package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
)

var (
	_ tenure.Store     = (*Advisory)(nil)
	_ tenure.Watcher   = (*Advisory)(nil)
	_ tenure.Lister    = (*Advisory)(nil)
	_ tenure.Pruner    = (*Advisory)(nil)
	_ tenure.Guarantor = (*Advisory)(nil)
)

// Advisory is a [tenure.Store] whose leaders hold a session-level advisory lock besides the row in the table. It is for
// elections that have to exclude programs which know nothing of the table but take the same lock, and for teams whose
// tools and habits are built on pg_locks. Everything else is as with [Store]: the records are in the same table.
//
// A leader holds its lock in a connection of its own, which is made for the bid and belongs to no pool, and renews the
// row through it. When the lock is lost, whatever the reason, the term ends at once with [tenure.ErrRevoked]. The lock
// adds to the row and replaces nothing of it: that a lock is free proves nothing about who held it, so a new leader
// waits for the end of the recorded lease all the same.
//
// All candidates of an election must use this mode. All methods are safe for concurrent use.
type Advisory struct {
	table   *Store
	config  *advisoryConfig
	refused refusals
	bids    sync.WaitGroup // what runs of them without a caller
	// direct is set once the server was seen to be reached without a pooler that shares its sessions.
	direct atomic.Bool

	mu      sync.Mutex
	closed  bool
	held    map[string]*session       // the lock of each election that is led from here
	lost    map[string]term           // the last term of each whose lock was lost
	locks   map[int64]string          // the election that each lock was taken for
	watches map[string][]*lockedWatch // by election
}

// term tells the terms of an election apart.
type term struct {
	token   uint64
	session string
}

func termOf(r tenure.Record) term { return term{r.Token, r.Session} }

// NewAdvisory returns the store over a pool, which stays the caller's: Close does not close it. It makes no connection
// and creates nothing in the database; see [Advisory.Migrate]. The error wraps [tenure.ErrConfig].
//
// The connections that hold locks are made with the pool's configuration, one for each election that is led from here,
// and are none of the pool's. They must not lead through a pooler in transaction or statement mode; the first bid finds
// out, and is then refused with [tenure.ErrPermanent].
func NewAdvisory(pool *pgxpool.Pool, options ...Option) (*Advisory, error) {
	a, err := newAdvisory(pool, options)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return a, nil
}

func newAdvisory(pool *pgxpool.Pool, options []Option) (*Advisory, error) {
	config, rest := splitAdvisory(options)
	if err := config.check(); err != nil {
		return nil, err
	}
	table, err := newStore(pool, rest)
	if err != nil {
		return nil, err
	}
	return &Advisory{
		table: table, config: config, held: map[string]*session{}, lost: map[string]term{},
		locks: map[int64]string{}, watches: map[string][]*lockedWatch{},
	}, nil
}

// Close gives up all locks, ends the store and its watches, and closes the pool if OpenAdvisory made it. Whoever leads
// through the store is told so first. Every later call fails with [tenure.ErrPermanent]. It may be called more than
// once, but not from within a deliver function. The error is nil.
func (a *Advisory) Close() error {
	a.mu.Lock()
	a.closed = true
	var all []*session
	for _, s := range a.held {
		all = append(all, s)
	}
	a.mu.Unlock()
	a.bids.Wait()
	for _, s := range all {
		s.end()
	}
	for _, s := range all {
		<-s.done
	}
	return a.table.Close()
}

// Load implements [tenure.Store]. On a standby it is an error: what a standby holds is old.
func (a *Advisory) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := a.table.Load(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return a.see(election, snapshot), nil
}

// CompareAndSwap implements [tenure.Store]. A swap that begins a term takes the lock and writes the row in one
// statement, of which both remain or neither; a lock that is not to be had is [tenure.ErrNotApplied]. Renewals of the
// term go through the connection that holds the lock. The swap that makes the row vacant gives the lock back in the
// same statement, before others are told.
func (a *Advisory) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	w := a.table.doubts.Begin(election, old)
	snapshot, err := a.swap(ctx, election, old, record)
	a.table.doubts.End(election, w, err)
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return a.see(election, snapshot), nil
}

func (a *Advisory) swap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	w := write{election: election, old: old, record: record}
	s, lost := a.holding(election, termOf(record))
	switch {
	case s != nil && record.Vacant():
		return a.through(ctx, s, w, (*session).release)
	case s != nil && s.holds(termOf(record)):
		return a.through(ctx, s, w, (*session).renew)
	case record.Vacant() || lost: // there is no lock to it, or none any more
		return a.table.CompareAndSwap(ctx, election, old, record)
	}
	now, err := a.Load(ctx, election)
	switch {
	case err != nil:
		return tenure.Snapshot{}, unwritten(err)
	case now.Version != old:
		return tenure.Snapshot{}, fmt.Errorf("postgres: writing %q: %w", election, tenure.ErrConflict)
	case now.Exists() && termOf(now.Record) == termOf(record): // somebody else's, or one that is led without a lock
		return a.table.CompareAndSwap(ctx, election, old, record)
	}
	return a.begin(ctx, s, w, now)
}

// unwritten says of the error of something that writes nothing that nothing was written.
func unwritten(err error) error {
	if err == nil || errors.Is(err, tenure.ErrPermanent) || errors.Is(err, tenure.ErrNotApplied) {
		return err
	}
	return tenure.NotApplied(err, 0)
}

// through writes on the connection that holds the lock, or if it was lost meanwhile as if there was none.
func (a *Advisory) through(
	ctx context.Context, s *session, w write, do func(*session, context.Context, write) (tenure.Snapshot, error),
) (tenure.Snapshot, error) {
	snapshot, err := do(s, ctx, w)
	switch {
	case err == nil:
		return snapshot, nil
	case s.gone(err):
		return a.table.CompareAndSwap(ctx, w.election, w.old, w.record)
	}
	return tenure.Snapshot{}, fmt.Errorf("postgres: writing %q with its lock: %w", w.election, outcome(err))
}

// holding returns the session that holds the election's lock, nil if none does, and whether the term's lock was lost.
func (a *Advisory) holding(election string, t term) (s *session, lost bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held[election], a.lost[election] == t
}

// List implements [tenure.Lister].
func (a *Advisory) List(ctx context.Context) ([]string, error) { return a.table.List(ctx) }

// Prune implements [tenure.Pruner], as [Store.Prune] does.
func (a *Advisory) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	return a.table.Prune(ctx, unused)
}

// Migrate makes the tables, the view and the schema, as [Store.Migrate] does: both modes have the same.
func (a *Advisory) Migrate(ctx context.Context) error { return a.table.Migrate(ctx) }

// Guarantee implements [tenure.Guarantor]: that of the table, on which alone it rests. A pooler that shares the
// server's sessions between its clients is an error, [tenure.ErrPermanent].
func (a *Advisory) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := a.probe(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("postgres: guarantee: %w", outcome(err))
	}
	g, err := a.table.Guarantee(ctx)
	if err == nil {
		g.Reasons = append(g.Reasons, "each leader holds an advisory lock too, which keeps other programs away; it adds "+
			"nothing to what the table guarantees, and is lost with every fail-over of the server")
	}
	return g, err
}
