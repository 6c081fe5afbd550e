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

// poolerTries is how often it is looked whether a pooler shares sessions, if there is one: other clients can hide it.
const poolerTries = 5

var errPooler = tenure.Permanent(errors.New("the server is reached through a pooler that gives one session of the " +
	"server to several clients, as PgBouncer does with pool_mode=transaction: an advisory lock would belong to all of " +
	"them; connect to the server itself, or to a pool in session mode, or use the table without locks (mode=table)"))

// dial makes a connection that can hold a lock, under the name by which others know it.
func (a *Advisory) dial(ctx context.Context, badge string) (conn *pgx.Conn, backend uint32, err error) {
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

func (a *Advisory) prepare(ctx context.Context, conn *pgx.Conn, badge string) (backend uint32, err error) {
	k := a.config.keepalive
	own := func(name string, value int64) string {
		if set := conn.Config().RuntimeParams[name]; set != "" {
			return set
		}
		return strconv.FormatInt(value, 10)
	}
	var ignored [7]string
	err = conn.QueryRow(ctx, prepareText, pgx.QueryExecModeExec, badge,
		own("tcp_keepalives_idle", int64(k.idle/time.Second)), own("tcp_keepalives_interval", int64(k.interval/time.Second)),
		own("tcp_keepalives_count", int64(k.probes)), own("tcp_user_timeout", k.unacknowledged.Milliseconds())).
		Scan(&backend, &ignored[0], &ignored[1], &ignored[2], &ignored[3], &ignored[4], &ignored[5], &ignored[6])
	return backend, err
}

// testPooler finds out whether the server's session behind a connection is also given to others, by having the pool use
// one for a while: a pooler that shares them hands out the one that was used last, or another one the next time.
func (a *Advisory) testPooler(ctx context.Context, conn *pgx.Conn, backend uint32) error {
	rounds := 1
	if conn.PgConn().PID() != backend {
		rounds = poolerTries
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

// shares reports whether another client is served by the same session, or ours by another one. A pooler hands out the
// session that was used last: after ours was asked, the other client gets it. Or it hands them out in turns: then the
// second answer is another one's.
func (a *Advisory) shares(ctx context.Context, conn *pgx.Conn, backend uint32) (shared bool, err error) {
	other, err := a.table.pool.Acquire(ctx)
	if err != nil {
		return false, acquired(err)
	}
	defer other.Release()
	for range 2 {
		if pid, err := serverPID(ctx, conn); err != nil || pid != backend {
			return true, err
		}
	}
	err = pgx.BeginFunc(ctx, other, func(tx pgx.Tx) error {
		pid, err := serverPID(ctx, tx)
		shared = pid == backend
		if err == nil && !shared {
			pid, err = serverPID(ctx, conn)
			shared = pid != backend
		}
		return err
	})
	if refusesTransactions(err) {
		return true, nil
	}
	return shared, err
}

// refusesTransactions reports whether an error is PgBouncer's in statement mode. It has no SQLSTATE of its own.
func refusesTransactions(err error) bool {
	return err != nil && strings.Contains(err.Error(), "not allowed in statement pooling mode")
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
