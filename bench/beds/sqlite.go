package beds

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/sqlstore"
)

// SQLite is a file of SQLite, for the processes of one host.
func SQLite() bench.Bed {
	return bench.Bed{
		Name: "sqlite", About: "a file, write-ahead log, every commit synced", Open: openSQL,
		Start: func(tb testserver.TB) (bench.Server, error) {
			dir := testserver.Dir(tb)
			bare := "file:" + filepath.Join(dir, "bare.db") +
				"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"
			db, err := openBare(tb, "sqlite", bare, "SELECT 'SQLite ' || sqlite_version()")
			if err != nil {
				return nil, err
			}
			db.SetMaxOpenConns(1) // it takes one writer at a time
			return &sqlServer{db, (&url.URL{Scheme: "sqlite", Path: filepath.Join(dir, "elections.db")}).String()}, nil
		},
	}
}

func openSQL(ctx context.Context, address string) (bench.Store, error) {
	return sqlstore.Open(ctx, address)
}

// sqlServer is a database that is reached by database/sql.
type sqlServer struct {
	*bareTable

	address string
}

func (s *sqlServer) Address() string { return s.address }

func (s *sqlServer) Open(ctx context.Context) (bench.Store, error) { return openSQL(ctx, s.address) }

// bareTable is a table of bare values.
type bareTable struct {
	*sql.DB

	version string
}

func openBare(tb testserver.TB, driver, source, version string) (*bareTable, error) {
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = db.Close() })
	b := &bareTable{DB: db}
	if err := db.QueryRow(version).Scan(&b.version); err != nil {
		return nil, err
	}
	create := "CREATE TABLE bare (id integer PRIMARY KEY, changes bigint NOT NULL, value varbinary(1000) NOT NULL)"
	if _, err := db.Exec(create); err != nil {
		return nil, err
	}
	for value := range bench.BareValues {
		if _, err := db.Exec("INSERT INTO bare VALUES (?, 0, ?)", value, bareValue); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *bareTable) Version() string { return b.version }

func (b *bareTable) Ping(ctx context.Context) error {
	var one int
	return b.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

func (b *bareTable) Write(ctx context.Context, value int) error {
	_, err := b.ExecContext(ctx, "UPDATE bare SET changes = changes + 1, value = ? WHERE id = ?", bareValue, value)
	return err
}
