package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

var errPooler = tenure.Permanent(errors.New("the server is reached through a pooler that gives one session of the " +
	"server to several clients, as PgBouncer does with pool_mode=transaction: an advisory lock would belong to all of " +
	"them; connect to the server itself, or to a pool in session mode, or use the table without locks (mode=table)"))

// dial makes a connection that can hold a lock, under the name by which others know it.
func (a *Advisory) dial(ctx context.Context, badge string) (conn *pgx.Conn, backend int, err error) {
	conn, err = a.table.connect(ctx)
	if err != nil {
		return nil, 0, acquired(err)
	}
	if backend, err = a.prepare(ctx, conn, badge); err == nil && !a.direct.Load() {
		err = a.testPooler(ctx, conn, backend)
		a.direct.Store(err == nil)
	}
	if err != nil {
		hangUp(conn)
		return nil, 0, err
	}
	return conn, backend, nil
}

func (a *Advisory) prepare(ctx context.Context, conn *pgx.Conn, badge string) (backend int, err error) {
	k := a.config.keepalive
	seconds := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	var ignored [7]string
	err = conn.QueryRow(ctx, prepareText, pgx.QueryExecModeExec, badge, seconds(k.idle), seconds(k.interval),
		strconv.Itoa(k.probes), strconv.FormatInt(k.unacknowledged.Milliseconds(), 10)).
		Scan(&backend, &ignored[0], &ignored[1], &ignored[2], &ignored[3], &ignored[4], &ignored[5], &ignored[6])
	return backend, err
}

// testPooler finds out whether the server's session behind a connection is also given to others, by having the pool use
// one for a while: a pooler that shares them hands out the one that was used last, or another one the next time.
func (a *Advisory) testPooler(ctx context.Context, conn *pgx.Conn, backend int) error {
	rounds := 1
	if int(conn.PgConn().PID()) != backend {
		rounds = 5 // there is a pooler, and others may use it at this moment
	}
	for range rounds {
		shared, err := a.shares(ctx, conn, backend)
		if err != nil {
			return err
		}
		if shared {
			return errPooler
		}
	}
	return nil
}

func (a *Advisory) shares(ctx context.Context, conn *pgx.Conn, backend int) (bool, error) {
	var others, again int
	other, err := a.table.pool.Acquire(ctx)
	if err != nil {
		return false, acquired(err)
	}
	defer other.Release()
	err = pgx.BeginFunc(ctx, other, func(tx pgx.Tx) error {
		if err := backendOf(ctx, tx, &others); err != nil {
			return err
		}
		return backendOf(ctx, conn, &again)
	})
	if refusesTransactions(err) {
		return true, nil
	}
	return others == backend || again != backend, err
}

// refusesTransactions reports whether an error is PgBouncer's in statement mode. It has no SQLSTATE of its own.
func refusesTransactions(err error) bool {
	return err != nil && strings.Contains(err.Error(), "not allowed in statement pooling mode")
}

func backendOf(ctx context.Context, q querier, pid *int) error {
	return q.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeExec).Scan(pid)
}

// probe tests the way to the server as a bid would.
func (a *Advisory) probe(ctx context.Context) error {
	if a.table.closed.Load() {
		return errClosed
	}
	if a.direct.Load() {
		return nil
	}
	conn, _, err := a.dial(ctx, brand+"probe")
	if err == nil {
		hangUp(conn)
	}
	return err
}
