package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

// Prune implements [tenure.Pruner], in one transaction: the floor is raised and the rows are gone, or neither. How long
// a record is unchanged is told by the database's clock. A row that a transaction has locked is in use, and stays.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	names, err := s.prune(ctx, unused)
	if err != nil {
		return nil, fmt.Errorf("postgres: pruning: %w", err)
	}
	return names, nil
}

func (s *Store) prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, acquired(err)
	}
	defer conn.Release()
	// Each statement has to see what the one before waited for.
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return nil, outcome(err)
	}
	names, err := s.layout.prune(ctx, s.mode(tx), unused)
	if err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // the error of what failed says more
		return nil, outcome(err)
	}
	return names, tx.Commit(ctx) // whatever its error, it may have been done
}

// prune deletes in a transaction. It locks the floor first: until the end nobody can create a record, under the old
// floor or at all.
func (l *layout) prune(ctx context.Context, q querier, unused time.Duration) ([]string, error) {
	timeout := strconv.FormatInt(max(lockTimeout(ctx).Milliseconds(), 1), 10)
	var ignored string
	if err := q.QueryRow(ctx, `SELECT set_config('lock_timeout', $1::text, true)`, timeout).Scan(&ignored); err != nil {
		return nil, err
	}
	var floor int64
	err := q.QueryRow(ctx, l.sql.lockState).Scan(&floor)
	if isNoRows(err) {
		return nil, tenure.Permanent(errNoState)
	}
	if err != nil {
		return nil, err
	}
	rows, err := q.Query(ctx, l.sql.prune, unused.Microseconds())
	if err != nil {
		return nil, err
	}
	var names []string
	var election string
	var token int64
	_, err = pgx.ForEachRow(rows, []any{&election, &token}, func() error {
		names, floor = append(names, election), max(floor, token)
		return nil
	})
	if err != nil || len(names) == 0 {
		return nil, err
	}
	return names, l.raiseFloor(ctx, q, floor, names)
}

func (l *layout) raiseFloor(ctx context.Context, q querier, floor int64, names []string) error {
	var told int
	return q.QueryRow(ctx, l.sql.raiseFloor, floor, names, l.channel).Scan(&told)
}
