package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/doubt"
)

var (
	_ tenure.Store     = (*Store)(nil)
	_ tenure.Lister    = (*Store)(nil)
	_ tenure.Pruner    = (*Store)(nil)
	_ tenure.Guarantor = (*Store)(nil)
)

var (
	errClosed  = tenure.Permanent(errors.New("the store is closed"))
	errUnsent  = errors.New("no connection to the database")
	errNoTable = errors.New("the tables are missing or incomplete")
)

// Store is a [tenure.Store] in two tables of a database. All methods are safe for concurrent use, by any number of
// Stores in any number of processes. It keeps no connection and runs no goroutine.
type Store struct {
	db         *sql.DB
	dialect    Dialect
	config     *config
	statements *statements
	owned      bool // db is closed with the store
	closed     atomic.Bool
	doubts     doubt.Writes
}

// New returns the store in the tables of db. It makes no call: see [Store.Migrate] for the tables.
//
// db stays the caller's. A renewal that waits for a connection loses time of the lease, so db should either have no
// limit of open connections that the program's own queries can exhaust, or serve this store alone: three connections
// are plenty for a hundred elections.
//
// The error wraps [tenure.ErrConfig] if db or dialect is nil, or an option is out of bounds.
func New(db *sql.DB, dialect Dialect, options ...Option) (*Store, error) {
	if db == nil || dialect == nil {
		return nil, fmt.Errorf("sqlstore: %w: New needs a database and a dialect", tenure.ErrConfig)
	}
	c := newConfig(options)
	s, err := newStatements(dialect.Syntax(), c)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	return &Store{db: db, dialect: dialect, config: c, statements: s}, nil
}

// Close ends the store: every later call fails with [tenure.ErrPermanent]. It closes the database only if the store
// was made by [Open]. Close may be called more than once.
func (s *Store) Close() error {
	if !s.closed.CompareAndSwap(false, true) || !s.owned {
		return nil
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("sqlstore: closing: %w", err)
	}
	return nil
}

// Load implements [tenure.Store]. It is one statement, and one more after a write whose outcome is unknown, where the
// database may show what it can lose: then what is returned is as durable as an acknowledged write.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := s.load(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("sqlstore: loading %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := tenure.CheckElection(election); err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	var found state
	err := s.with(ctx, func(conn *sql.Conn) error {
		err := s.reread(ctx, func() error {
			return conn.QueryRowContext(ctx, s.statements.load, election).Scan(found.targets()...)
		})
		if err == nil && s.doubts.About(election, false) {
			err = s.confirm(ctx, conn, election, tenure.Version(found.version.String))
		}
		return err
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return tenure.Snapshot{}, s.wrongLayout(0)
	case err != nil:
		return tenure.Snapshot{}, err
	case found.layout != currentLayout:
		return tenure.Snapshot{}, s.wrongLayout(found.layout)
	}
	snapshot, err := found.snapshot(election)
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	return snapshot, nil
}

// confirm returns once the version that was read is as durable as an acknowledged write. See package doubt.
func (s *Store) confirm(ctx context.Context, conn *sql.Conn, election string, version tenure.Version) error {
	var position sql.NullString
	if err := conn.QueryRowContext(ctx, s.statements.confirm).Scan(&position); err != nil {
		return err
	}
	s.doubts.Settle(election, version)
	return nil
}

// reread calls read again while the database asks for that, up to about half a second: at the isolation level
// SERIALIZABLE readers too are refused for the sake of an order with writers, and in SQLite without WAL they meet
// writers.
func (s *Store) reread(ctx context.Context, read func() error) error {
	for pause := time.Millisecond; ; pause += time.Millisecond {
		err := read()
		if pause > 32*time.Millisecond || s.dialect.Classify(err) != NotApplied {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// CompareAndSwap implements [tenure.Store]. It is one statement, in a transaction of its own.
//
// The outcome is unknown if the connection is lost, or ctx ends, while the statement is on its way: the server may
// carry it out even later, as when it waits for a lock. Deadlocks, lock timeouts, a busy SQLite, a server that accepts
// no writes, and the want of a connection are [tenure.ErrNotApplied]; wrong credentials, missing rights and missing
// tables are [tenure.ErrPermanent].
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (_ tenure.Snapshot, err error) {
	if s.statements.confirm != "" {
		w := s.doubts.Begin(election, old)
		defer func() { s.doubts.End(election, w, err) }()
	}
	snapshot, err := s.swap(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("sqlstore: swapping %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) swap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := tenure.CheckElection(election); err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	next := nextVersion(old)
	columns, err := newRow(record)
	if err != nil {
		return tenure.Snapshot{}, err
	}
	values := append([]any{string(next)}, columns.values()...)
	var changed int64
	if old == "" {
		changed, err = s.exec(ctx, s.statements.create, append(values, election, floorBelow(record))...)
	} else {
		changed, err = s.exec(ctx, s.statements.update, append(values, election, string(old))...)
	}
	switch {
	case err != nil:
		return tenure.Snapshot{}, err
	case changed == 0:
		return tenure.Snapshot{}, tenure.ErrConflict
	}
	return tenure.Snapshot{Version: next, Record: record.Clone()}, nil
}

// floorBelow returns the highest floor above which the record may be created. A vacant one only keeps the token of a
// term that is over, so it may stand on the floor: the next term is above it.
func floorBelow(record tenure.Record) int64 {
	if record.Vacant() || record.Token == 0 {
		return int64(record.Token)
	}
	return int64(record.Token) - 1
}
