package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure"
)

// with calls do with a connection of the pool and says what its error means. An error of getting a connection is one
// of a call that was never sent. A connection that proves to be dead before anything was sent is replaced, however
// many of them the pool holds, as after a restart of the server.
func (s *Store) with(ctx context.Context, do func(*sql.Conn) error) error {
	if s.closed.Load() {
		return errClosed
	}
	for dead := s.db.Stats().Idle + 1; ; dead-- {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return s.unsent(err)
		}
		err = do(conn)
		readOnly := err != nil && s.dialect.Classify(err) == ReadOnly
		if readOnly {
			discard(conn)
		}
		_ = conn.Close() // back to the pool; what it returns says no more than err
		if !errors.Is(err, driver.ErrBadConn) {
			return s.explain(err)
		}
		if dead <= 0 {
			return tenure.NotApplied(err, 0) // by the contract of drivers nothing was sent
		}
	}
}

// exec runs a statement and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, statement string, args ...any) (changed int64, err error) {
	err = s.with(ctx, func(conn *sql.Conn) error {
		if err := ctx.Err(); err != nil {
			return tenure.NotApplied(err, 0)
		}
		result, err := conn.ExecContext(ctx, statement, args...)
		if err == nil {
			changed, err = result.RowsAffected()
		}
		return err
	})
	return changed, err
}

// discard has the pool close a connection to a server that accepts no writes. Otherwise it would be used on and on
// after a fail-over, as long as the former primary lives.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// unsent says what it means that there was no connection for a call.
func (s *Store) unsent(err error) error {
	outcome := s.dialect.Classify(err)
	err = fmt.Errorf("%w: %w", errUnsent, err)
	if outcome == Permanent {
		return tenure.Permanent(err)
	}
	return tenure.NotApplied(err, 0)
}

// explain says what an error of a statement means for its outcome.
func (s *Store) explain(err error) error {
	if err == nil || errors.Is(err, tenure.ErrNotApplied) {
		return err
	}
	switch s.dialect.Classify(err) {
	case Conflict:
		return fmt.Errorf("%w: %w", tenure.ErrConflict, err)
	case NotApplied:
		return tenure.NotApplied(err, 0)
	case ReadOnly:
		return tenure.NotApplied(fmt.Errorf("the server accepts no writes, as a replica or a former primary: %w", err), 0)
	case NoTable:
		return tenure.Permanent(fmt.Errorf("%w (%w): %s", errNoTable, err, s.advice()))
	case Permanent:
		return tenure.Permanent(err)
	}
	return err
}
