package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

// patience bounds how long anything may take on a busy machine.
const patience = 60 * time.Second

// shared is the server of all tests that do it no harm. Each has a database of its own.
var shared = testserver.Shared[testserver.Postgres]{
	Start: func(tb testserver.TB) *testserver.Postgres { return testserver.StartPostgres(tb) },
}

func TestMain(m *testing.M) {
	code := m.Run()
	shared.End()
	os.Exit(code)
}

// server returns the URL of a new database on the shared server.
func server(t testing.TB) string {
	t.Helper()
	p := shared.Server(t)
	name := fmt.Sprintf("test_%d", time.Now().UnixNano())
	exec(t, openPool(t, p.URL()), "CREATE DATABASE "+name)
	return strings.Replace(p.URL(), "/postgres?", "/"+name+"?", 1)
}

func openPool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), url)
	must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// newStore returns a store whose tables exist, over a pool of its own.
func openStore(t testing.TB, url string, options ...Option) *Store {
	t.Helper()
	s := newTestStore(t, openPool(t, url), options...)
	must(t, s.Migrate(context.Background()))
	return s
}

func newTestStore(t testing.TB, pool *pgxpool.Pool, options ...Option) *Store {
	t.Helper()
	s, err := New(pool, options...)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func exec(t testing.TB, q querier, sql string, args ...any) {
	t.Helper()
	_, err := q.Exec(context.Background(), sql, args...)
	must(t, err)
}

// scalar returns the only value that a query returns.
func scalar[T any](t testing.TB, q querier, sql string, args ...any) (value T) {
	t.Helper()
	must(t, q.QueryRow(context.Background(), sql, args...).Scan(&value))
	return value
}

// inTime has something happen that must not take longer than d. try reports whether it did not: a machine that stood
// still meanwhile, or is slower, gets three times as much.
func inTime(t testing.TB, d time.Duration, try func(d time.Duration) bool) {
	t.Helper()
	for ; !try(d); d *= 3 {
		if d > patience {
			t.Fatalf("the machine did not do it within %v", d)
		}
	}
}

// givesUp makes a write that waits in vain for what somebody has locked. It has to know before its context ends that
// it was not applied.
func givesUp(t testing.TB, write func(context.Context) error) {
	t.Helper()
	inTime(t, 8*time.Second, func(d time.Duration) bool {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		err := write(ctx)
		if err == nil || !errors.Is(err, tenure.ErrNotApplied) && ctx.Err() == nil {
			t.Fatalf("a write that waits for a lock returned %v, want ErrNotApplied", err)
		}
		return ctx.Err() == nil
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func held(token uint64) tenure.Record {
	return tenure.Record{Token: token, Leader: "node-a", Session: "4f1d", TTL: 10 * time.Second, Renewals: 1}
}
