package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

// Fence makes a transaction in the database of the elections part of a term: it can commit only if nobody else was
// elected before. To that end it locks the election's row, until the transaction ends, against a change of the token.
// Renewals pass that lock, a take-over waits for it. If the term is over the error wraps [tenure.ErrDeposed]; the
// transaction can still be used then, but must not do the leader's work.
//
// Make it the first statement of the transaction: then nothing is done in vain, and every limit below holds from the
// start. It protects the commit wherever it stands before that, in every isolation level. In repeatable read and
// serializable a take-over that was committed after the transaction's first statement makes Fence fail with SQLSTATE
// 40001 instead; repeated, the transaction gets [tenure.ErrDeposed].
//
// A leader that is frozen with such a transaction open must not keep the seat for ever. Fence bounds, in the server and
// for this transaction alone, how long it may be idle between two statements, and how long each of them may take: by
// what is left of the term's lease, or as [WithFenceLimit] says. A shorter bound that the session already has is kept.
// A transaction that is idle for longer is ended together with its connection.
//
// Of the options, WithSchema, WithTable and WithFenceLimit count. Fence works with the tables of [New] and of
// [NewAdvisory], needs the right to select from the table and to update one of its columns, and makes one round trip.
func Fence(ctx context.Context, tx pgx.Tx, term tenure.Term, options ...Option) error {
	f, err := newFencing(term, options)
	if err == nil {
		var one int
		err = f.judge(tx.QueryRow(ctx, f.sql, f.args...).Scan(&one), pgx.ErrNoRows)
	}
	return f.failed(err)
}

// FenceSQL is [Fence] for a transaction of database/sql, over any driver whose parameters are written $1.
func FenceSQL(ctx context.Context, tx *sql.Tx, term tenure.Term, options ...Option) error {
	f, err := newFencing(term, options)
	if err == nil {
		var one int
		err = f.judge(tx.QueryRowContext(ctx, f.sql, f.args...).Scan(&one), sql.ErrNoRows)
	}
	return f.failed(err)
}

// Bounds of [WithFenceLimit]. The upper one is the server's.
const (
	minFenceLimit = time.Millisecond
	maxFenceLimit = (1<<31 - 1) * time.Millisecond
)

// WithFenceLimit sets how long a transaction with [Fence] may be idle between two statements, and how long each of them
// may take, until the server ends it: 1 ms to 24 days. A frozen leader's transaction keeps everybody else from leading
// for that long. Default: what is left of the term's lease when Fence is called.
//
// With it Fence leaves it to the database alone whether the term stands. So it serves programs that the leader has
// started, too, which know the election, the leader and the token, but not the lease: [tenure.Term] with these fields.
func WithFenceLimit(d time.Duration) Option { return option(func(c *config) { c.fenceLimit = d }) }

// fenceText takes the row's lock first, so that nothing is set if the term is over. The settings are for the
// transaction alone; zero means none, and then ours is the shorter one.
const fenceText = `
WITH mine AS MATERIALIZED (
 SELECT 1 FROM {table} WHERE election = $1::text AND token = $2::bigint AND leader = $3::text FOR KEY SHARE
), limits AS MATERIALIZED (
 SELECT set_config(name, $4::bigint::text, true) FROM mine, (VALUES
  ('idle_in_transaction_session_timeout'), ('statement_timeout')) AS bounded(name)
 WHERE NOT extract(epoch FROM current_setting(name)::interval) * 1000 BETWEEN 1 AND $4::bigint
)
SELECT 1 FROM mine WHERE (SELECT count(*) FROM limits) >= 0`

// fencing is one call of Fence.
type fencing struct {
	term tenure.Term
	sql  string
	args []any
}

func newFencing(term tenure.Term, options []Option) (fencing, error) {
	f := fencing{term: term}
	c, err := newConfig(options)
	if err != nil {
		return f, err
	}
	limit := c.fenceLimit
	if limit == 0 {
		limit = term.Remaining()
	}
	if limit <= 0 {
		return f, fmt.Errorf("%w: %w", tenure.ErrDeposed, tenure.ErrLeaseExpired)
	}
	if err := errors.Join(checkIdentifier("schema", c.schema, maxIdentifier),
		checkIdentifier("table", c.table, maxIdentifier-longestSuffix)); err != nil {
		return f, err
	}
	f.sql = fill(fenceText, pgx.Identifier{c.schema, c.table}.Sanitize())
	f.args = []any{term.Election, int64(term.Token), term.Leader, max(limit, minFenceLimit).Milliseconds()}
	return f, nil
}

func fill(text, table string) string { return strings.ReplaceAll(text, "{table}", table) }

// judge turns the absence of the row into what it means.
func (f fencing) judge(err, noRows error) error {
	if errors.Is(err, noRows) {
		return tenure.ErrDeposed
	}
	return err
}

func (f fencing) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: fencing a transaction with term %d of %q: %w", f.term.Token, f.term.Election, err)
}
