//go:build linux

package beds

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/postgres"
)

// Postgres is the lease table in PostgreSQL.
func Postgres() Bed {
	return Bed{Name: "postgres", About: "lease table, fsync on", Start: startPostgres("")}
}

// PostgresAdvisory is the table, with session locks besides.
func PostgresAdvisory() Bed {
	return Bed{
		Name: "postgres-advisory", About: "lease table and session locks, fsync on",
		Start: startPostgres("&mode=advisory"),
	}
}

func startPostgres(parameters string) func(testserver.TB) (*Server, error) {
	return func(tb testserver.TB) (*Server, error) {
		p := testserver.StartPostgres(tb)
		if err := preparePostgres(p.URL()); err != nil {
			return nil, err
		}
		return &Server{
			Version: "PostgreSQL", Addrs: []string{p.Addr}, Pool: true,
			URL:    one("postgres://" + candidateRole + "@{}/postgres?sslmode=disable" + parameters),
			Nodes:  []Node{{Name: "postgres", Process: p.Process}},
			Revoke: postgresRevoke(func() *testserver.Postgres { return p }),
		}, nil
	}
}

// preparePostgres makes the tables, and a role that may use them.
func preparePostgres(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	owner, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer owner.Close()
	store, err := postgres.New(owner)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	_, err = owner.Exec(ctx, "CREATE ROLE "+candidateRole+" LOGIN; "+grantPostgres)
	return err
}

const (
	grantPostgres  = "GRANT ALL ON ALL TABLES IN SCHEMA public TO " + candidateRole
	revokePostgres = "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM " + candidateRole
)

// postgresRevoke is for the server that takes writes at the time.
func postgresRevoke(primary func() *testserver.Postgres) func() (func() error, error) {
	return func() (func() error, error) {
		restore := func() error { return execPostgres(primary(), grantPostgres) }
		return restore, execPostgres(primary(), revokePostgres)
	}
}

// execPostgres has a server carry out statements, each by itself.
func execPostgres(p *testserver.Postgres, statements ...string) error {
	return onPostgres(p, func(ctx context.Context, conn *pgx.Conn) error {
		for _, s := range statements {
			if _, err := conn.Exec(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
}

// askPostgres returns the one text that a query returns.
func askPostgres(p *testserver.Postgres, query string, args ...any) (answer string, err error) {
	err = onPostgres(p, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query, args...).Scan(&answer)
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", query, err)
	}
	return answer, err
}

// onPostgres does something as the superuser, over a connection of its own.
func onPostgres(p *testserver.Postgres, do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.URL())
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close(ctx))
}
