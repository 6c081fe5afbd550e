package sqltest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/sqlstore"
)

// patience bounds what ought to happen soon on a busy machine.
const patience = 60 * time.Second

// ttl is that of records that nobody renews.
const ttl = 1500 * time.Millisecond

// database is one to test with, by as many pools of connections as are wanted.
type database struct {
	dialect sqlstore.Dialect
	driver  string
	dsn     string
}

// open returns a pool of its own.
func (d database) open(tb testing.TB) *sql.DB {
	tb.Helper()
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	return db
}

// store returns a store over a pool of its own, with its tables made.
func (d database) store(tb testing.TB, options ...sqlstore.Option) *sqlstore.Store {
	tb.Helper()
	return d.storeOver(tb, d.open(tb), options...)
}

func (d database) storeOver(tb testing.TB, db *sql.DB, options ...sqlstore.Option) *sqlstore.Store {
	tb.Helper()
	store, err := sqlstore.New(db, d.dialect, options...)
	if err != nil {
		tb.Fatal(err)
	}
	if err := store.Migrate(within(tb)); err != nil {
		tb.Fatal(err)
	}
	return store
}

// within returns a context for what should take no time.
func within(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	return ctx
}

func mariadb(m *testserver.MariaDB, addr string) database {
	return database{sqlstore.MySQL{}, "mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s", m.User, m.Password, addr, m.Database)}
}

func sqlite(tb testing.TB) database {
	path := filepath.ToSlash(filepath.Join(tb.TempDir(), "elections.db"))
	return database{
		sqlstore.SQLite{},
		"sqlite",
		"file:" + path + "?_pragma=busy_timeout(250)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)",
	}
}

// execute runs statements, one a line, that have to succeed.
func execute(tb testing.TB, db *sql.DB, statements string) {
	tb.Helper()
	for statement := range strings.SplitSeq(statements, "\n") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		if _, err := db.ExecContext(within(tb), statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}
