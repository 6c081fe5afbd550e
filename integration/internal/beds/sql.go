//go:build linux

package beds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/postgres"
)

// patience bounds what the harness itself asks of a server.
const patience = 30 * time.Second

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

// candidateRole is whom the candidates connect as; it can be forbidden everything.
const candidateRole = "candidate"

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
			Revoke: postgresRevoke(p),
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

func postgresRevoke(p *testserver.Postgres) func() (func() error, error) {
	do := func(statement string) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		conn, err := pgx.Connect(ctx, p.URL())
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, statement)
		return errors.Join(err, conn.Close(ctx))
	}
	return func() (func() error, error) {
		return func() error { return do(grantPostgres) }, do(revokePostgres)
	}
}

// MariaDB is a table in MariaDB.
func MariaDB() Bed {
	return Bed{Name: "mariadb", About: "lease table, every commit synced", Start: startMariaDB}
}

func startMariaDB(tb testserver.TB) (*Server, error) {
	m := testserver.StartMariaDB(tb)
	admin, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s", m.User, m.Password, m.Addr, m.Database))
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = admin.Close() })
	statements := func(all ...string) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, s := range all {
			if _, err := admin.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
	err = statements("CREATE USER '"+candidateRole+"'@'%' IDENTIFIED BY 'secret'",
		"GRANT ALL PRIVILEGES ON "+m.Database+".* TO '"+candidateRole+"'@'%'")
	return &Server{
		Version: "MariaDB", Addrs: []string{m.Addr},
		URL:   one("mysql://" + candidateRole + ":secret@{}/" + m.Database),
		Nodes: []Node{{Name: "mariadb", Process: m.Process}},
		Revoke: func() (func() error, error) {
			restore := func() error { return statements("ALTER USER '" + candidateRole + "'@'%' ACCOUNT UNLOCK") }
			return restore, statements("ALTER USER '"+candidateRole+"'@'%' ACCOUNT LOCK", "KILL USER '"+candidateRole+"'")
		},
	}, err
}
