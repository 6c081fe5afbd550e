package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/doubt"
)

var (
	_ tenure.Store     = (*Store)(nil)
	_ tenure.Watcher   = (*Store)(nil)
	_ tenure.Lister    = (*Store)(nil)
	_ tenure.Pruner    = (*Store)(nil)
	_ tenure.Guarantor = (*Store)(nil)
)

// Store is a [tenure.Store] in a table of a PostgreSQL database. All methods are safe for concurrent use, by any number
// of Stores on the same table in any number of processes.
type Store struct {
	config *config
	layout *layout
	pool   *pgxpool.Pool
	owned  bool // Close closes the pool
	hub    *hub
	doubts doubt.Writes
	closed atomic.Bool
	// unprepared is set once a server, or a pooler before it, has lost a prepared statement.
	unprepared atomic.Bool
}

// New returns the store over a pool, which stays the caller's: Close does not close it. It makes no connection and
// creates nothing in the database; see [Store.Migrate]. The error wraps [tenure.ErrConfig].
//
// Beside the pool's connections, of which each call uses one for one statement, a store with watches keeps one of its
// own, made as the pool makes its connections.
func New(pool *pgxpool.Pool, options ...Option) (*Store, error) {
	s, err := newStore(pool, options)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return s, nil
}

func newStore(pool *pgxpool.Pool, options []Option) (*Store, error) {
	if pool == nil {
		return nil, fmt.Errorf("%w: there is no pool", tenure.ErrConfig)
	}
	c, err := newConfig(options)
	if err == nil {
		err = refuseAdvisory(options)
	}
	if err != nil {
		return nil, err
	}
	l, err := newLayout(c.schema, c.table)
	if err != nil {
		return nil, err
	}
	s := &Store{config: c, layout: l, pool: pool}
	s.hub = newHub(s)
	return s, nil
}

// Close ends the store and its watches, and the pool if Open made it. Every later call fails with
// [tenure.ErrPermanent]. It may be called more than once, but not from within a deliver function. The error is nil.
func (s *Store) Close() error {
	if s.closed.CompareAndSwap(false, true) {
		s.hub.close()
		if s.owned {
			s.pool.Close()
		}
	}
	return nil
}

// Load implements [tenure.Store]. On a standby it is an error: what a standby holds is old. After a write whose outcome
// is unknown it waits until the synchronous standbys have what it returns.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := onServer(ctx, s, func(q querier) (tenure.Snapshot, error) {
		if err := tenure.CheckElection(election); err != nil {
			return tenure.Snapshot{}, tenure.Permanent(err)
		}
		snapshot, err := s.layout.load(ctx, q, election)
		if err == nil && s.doubts.About(election, false) {
			err = s.confirm(ctx, q, found{election, snapshot})
		}
		return snapshot, err
	})
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("postgres: loading %q: %w", election, err)
	}
	return snapshot, nil
}

// CompareAndSwap implements [tenure.Store], in one statement and one round trip. It waits for locks on the row, such as
// those of a fenced transaction, for three quarters of what is left of ctx and for 5 s at most, and is then
// [tenure.ErrNotApplied].
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	w := s.doubts.Begin(election, old)
	result, err := onServer(ctx, s, func(q querier) (swapped, error) {
		if err := tenure.CheckElection(election); err != nil {
			return swapped{}, tenure.Permanent(err)
		}
		return s.layout.swap(ctx, q, election, old, record, swapOptions{lockTimeout(ctx), s.config.pushRenewals})
	})
	s.doubts.End(election, w, err)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("postgres: writing %q: %w", election, err)
	}
	if result.renewal {
		s.hub.renewed(election, result.Snapshot)
	}
	return result.Snapshot, nil
}

// lockTimeout leaves a quarter of the time for the answer that a lock was not to be had.
func lockTimeout(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return maxLockTimeout
	}
	return min(maxLockTimeout, time.Until(deadline)*3/4)
}

// maxTries bounds how often a statement is repeated that could not be serialized.
const maxTries = 10

// onServer runs one statement on a connection of the pool. It is run again, on another connection, as long as it
// certainly had no effect and may have one at the next try: the connection leads to a server that takes no writes any
// more, a prepared statement was lost with a pooler, or the database's default isolation is stricter than ours needs to
// be.
func onServer[T any](ctx context.Context, s *Store, statement func(querier) (T, error)) (result T, err error) {
	if s.closed.Load() {
		return result, errClosed
	}
	for tries := 1; ; tries++ {
		made, prepared := s.pool.Stat().NewConnsCount(), !s.unprepared.Load()
		conn, err := s.pool.Acquire(ctx)
		if err != nil {
			return result, acquired(err)
		}
		result, err = statement(s.mode(conn))
		again := false
		switch {
		case errors.Is(err, errStandby), hasState(err, readOnlyTransaction):
			// The pool makes a new one, to the primary if it knows several hosts. Of a new one nothing else is to be had.
			_ = conn.Conn().Close(ctx)
			again = s.pool.Stat().NewConnsCount() == made
		case hasState(err, invalidStatementName, duplicateStatementName):
			s.unprepared.Store(true)
			again = prepared
		case hasState(err, serializationFailure):
			again = tries < maxTries
		}
		conn.Release()
		if !again {
			return result, outcome(err)
		}
	}
}

// mode returns the connection, such that nothing is prepared if that does not work here.
func (s *Store) mode(q querier) querier {
	if s.unprepared.Load() {
		return unprepared{q}
	}
	return q
}

// unprepared is a querier that has pgx send each statement with its parameters at once.
type unprepared struct{ querier }

func (u unprepared) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return u.querier.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
}

func (u unprepared) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return u.querier.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
}
