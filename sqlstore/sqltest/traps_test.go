package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/sqlstore"
)

// with returns the database as it is reached with further parameters in the data source name.
func (d database) with(parameters string) database {
	separator := "?"
	if strings.Contains(d.dsn, "?") {
		separator = "&"
	}
	d.dsn += separator + parameters
	return d
}

// The store keeps its contract whatever the options of the driver and the settings of the session are.
func TestMySQLOptions(t *testing.T) {
	d := startMariaDB(t).database()
	for _, parameters := range []string{
		"clientFoundRows=true", // rows are counted when found, not when changed
		"interpolateParams=true&collation=utf8mb4_unicode_ci",
		"parseTime=true&loc=America%2FNew_York&time_zone=%27%2B05%3A30%27",
		"sql_mode=%27%27", // what does not fit would be cut off silently
		"tx_isolation=%27SERIALIZABLE%27",
		"tx_isolation=%27READ-COMMITTED%27",
	} {
		t.Run(parameters, func(t *testing.T) { conforms(t, d.with(parameters)) })
	}
}

func TestPostgreSQLOptions(t *testing.T) {
	d := startPostgreSQL(t).database()
	for _, parameters := range []string{
		"default_transaction_isolation=serializable",
		"default_query_exec_mode=simple_protocol", // as behind a transaction pooler
		"TimeZone=Asia/Kolkata&DateStyle=German",
	} {
		t.Run(parameters, func(t *testing.T) { conforms(t, d.with(parameters)) })
	}
}

func TestSQLiteOptions(t *testing.T) {
	for _, parameters := range []string{
		"_pragma=busy_timeout(5000)&_pragma=journal_mode(DELETE)", // readers and writers wait for each other
		"_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=exclusive",
	} {
		t.Run(parameters, func(t *testing.T) {
			d := sqlite(t)
			path, _, _ := strings.Cut(d.dsn, "?")
			d.dsn = path + "?" + parameters
			conforms(t, d)
		})
	}
}

// A connection that cannot carry every character must not make one election of two.
func TestMySQLConnectionOfThreeByteCharacters(t *testing.T) {
	d := startMariaDB(t).database()
	right := d.store(t)
	narrow := d.with("charset=utf8mb3&sql_mode=%27%27").store(t)
	for i, name := range []string{"x", "x?", "x????", "x🗳", "x🗳b"} {
		for client, store := range map[string]*sqlstore.Store{"right": right, "narrow": narrow} {
			record := tenure.Record{Token: 1, Leader: "a", Session: fmt.Sprint(client, i), TTL: ttl}
			current, err := store.Load(within(t), name)
			if err == nil && !current.Exists() {
				_, err = store.CompareAndSwap(within(t), name, "", record)
			}
			if err != nil && client == "right" {
				t.Fatalf("%s, %q: %v", client, name, err)
			}
			if current, err = store.Load(within(t), name); err == nil && !strings.HasSuffix(current.Record.Session, fmt.Sprint(i)) {
				t.Errorf("the %s client, asked for %q, found the record of session %q", client, name, current.Record.Session)
			}
		}
	}
}

// readOnly is how a server is made to accept no writes by ordinary users, and to accept them again.
var readOnly = map[string]struct{ begin, end string }{
	"mysql": {"SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0"},
	"pgx": {
		"ALTER DATABASE postgres SET default_transaction_read_only = on",
		"SET default_transaction_read_only = off\nALTER DATABASE postgres RESET default_transaction_read_only",
	},
}

// A former primary accepts no writes, yet its connections work. The store says so, and gives the connection up: the
// next one may lead to the new primary.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		admin := s.database().open(t)
		admin.SetMaxOpenConns(1)
		owner := s.database().store(t)
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
		current, err := owner.CompareAndSwap(within(t), "billing", "", record)
		if err != nil {
			t.Fatal(err)
		}
		d := restricted(t, s, admin)
		execute(t, admin, readOnly[d.driver].begin)
		pool := d.open(t)
		pool.SetMaxOpenConns(1)
		store := d.storeOver(t, pool)
		before := connection(t, d, pool)
		_, err = store.CompareAndSwap(within(t), "billing", current.Version, record)
		if !errors.Is(err, tenure.ErrNotApplied) || !strings.Contains(err.Error(), "accepts no writes") {
			t.Errorf("the error is %v, want ErrNotApplied that says why", err)
		}
		if after := connection(t, d, pool); after == before {
			t.Error("the connection went back to the pool")
		}
		execute(t, admin, readOnly[d.driver].end)
		_, _ = store.CompareAndSwap(within(t), "billing", "1-0", record) // PostgreSQL: a session keeps its setting
		_, _ = store.Load(within(t), "billing")
		if d.driver == "pgx" {
			pool = d.open(t)
			store = d.storeOver(t, pool)
		}
		if _, err = store.CompareAndSwap(within(t), "billing", current.Version, record); err != nil {
			t.Errorf("after it accepts writes again: %v", err)
		}
	})
}

// connection identifies the pool's only connection.
func connection(tb testing.TB, d database, pool *sql.DB) (id int64) {
	tb.Helper()
	query := map[string]string{"mysql": "SELECT CONNECTION_ID()", "pgx": "SELECT pg_backend_pid()"}[d.driver]
	if err := pool.QueryRowContext(within(tb), query).Scan(&id); err != nil {
		tb.Fatal(err)
	}
	return id
}

// Somebody holds the row in an open transaction. The store says that nothing was written once the database gives up.
func TestLockTimeoutIsNotApplied(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		d := s.database()
		timeout := map[string]string{"mysql": "innodb_lock_wait_timeout=1", "pgx": "lock_timeout=300"}[d.driver]
		store := d.with(timeout).store(t)
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
		current, err := store.CompareAndSwap(within(t), "billing", "", record)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := d.open(t).Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.Exec("UPDATE tenure_elections SET token = token"); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("SELECT * FROM tenure_elections FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		if _, err := store.CompareAndSwap(within(t), "billing", current.Version, record); !errors.Is(err, tenure.ErrNotApplied) {
			t.Errorf("the error is %v, want ErrNotApplied", err)
		}
		// Reading waits for nobody.
		if found, err := store.Load(within(t), "billing"); err != nil || found.Version != current.Version {
			t.Errorf("Load: %+v, %v", found, err)
		}
	})
}

// The database breaks a deadlock by giving up the swap. There is one only because a creation locks the floor that it
// has compared itself with, at READ COMMITTED too.
func TestDeadlockIsNotApplied(t *testing.T) {
	d := startMariaDB(t).database()
	store := d.with("tx_isolation=%27READ-COMMITTED%27&innodb_lock_wait_timeout=10").store(t)
	execute(t, d.open(t), "CREATE TABLE weight (id integer PRIMARY KEY)")
	tx, err := d.open(t).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	// The transaction that has changed more is spared.
	for _, statement := range []string{
		"INSERT INTO weight VALUES (1), (2), (3), (4), (5), (6), (7), (8)",
		"INSERT INTO tenure_elections SELECT 'billing', '1-0', 1, '', '', 0, 0, '', NULL, '', 0, NULL, NULL, NULL, NULL, NULL, 0",
	} {
		if _, err := tx.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	swapped := make(chan error, 1)
	go func() {
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
		_, err := store.CompareAndSwap(within(t), "billing", "", record)
		swapped <- err
	}()
	// The server shows what it has shown before to whoever asks again within a tenth of a second.
	await(t, d, "SELECT count(*) + sleep(0.2) FROM information_schema.innodb_lock_waits", 1)
	if _, err := tx.Exec("UPDATE tenure_elections_meta SET token_floor = token_floor + 1"); err != nil {
		t.Fatal(err)
	}
	if err := <-swapped; !errors.Is(err, tenure.ErrNotApplied) || !strings.Contains(err.Error(), "1213") {
		t.Errorf("the error is %v, want ErrNotApplied because of a deadlock", err)
	}
}

// A call whose context ends while the server waits for a lock returns soon, and leaves the outcome open: the server
// may still write.
func TestContextEndsAWaitForALock(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		d := s.database()
		store := d.store(t)
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
		current, err := store.CompareAndSwap(within(t), "billing", "", record)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := d.open(t).Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.Exec("SELECT * FROM tenure_elections FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		record.Renewals++
		_, err = store.CompareAndSwap(ctx, "billing", current.Version, record)
		if err == nil || errors.Is(err, tenure.ErrConflict) || errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("the error is %v", err)
		}
		if d.driver == "mysql" && errors.Is(err, tenure.ErrNotApplied) {
			t.Errorf("the error is %v, but the server goes on waiting for the lock, and then writes", err)
		}
	})
}

// A pool without a free connection is a call that was never sent.
func TestExhaustedPoolIsNotApplied(t *testing.T) {
	d := sqlite(t)
	db := d.open(t)
	store := d.storeOver(t, db)
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(within(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
	if _, err := store.CompareAndSwap(ctx, "billing", "", record); !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("the error is %v, want ErrNotApplied", err)
	}
}

// Busy SQLite: somebody writes for longer than the busy timeout.
func TestBusySQLiteIsNotApplied(t *testing.T) {
	d := sqlite(t)
	store := d.store(t)
	conn, err := d.open(t).Conn(within(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(within(t), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
	if _, err := store.CompareAndSwap(within(t), "billing", "", record); !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("the error is %v, want ErrNotApplied", err)
	}
	if _, err := store.Load(within(t), "billing"); err != nil {
		t.Errorf("Load beside a writer: %v", err)
	}
	if _, err := conn.ExecContext(within(t), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.CompareAndSwap(within(t), "billing", "", record); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Elections come and go while others prune. No token of an election is ever given twice: a creation that has compared
// itself with the floor is in the table before the floor rises.
func TestPruneBesideCreations(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		const creators, wanted = 6, 20
		if d.driver == "mysql" {
			d = d.with("tx_isolation=%27READ-COMMITTED%27") // REPEATABLE READ locks what an INSERT selects in any case
		}
		var mu sync.Mutex
		given := map[uint64]bool{}
		ctx, stop := context.WithTimeout(t.Context(), 5*patience)
		var pruning, creating sync.WaitGroup
		pruner := d.store(t)
		pruning.Go(func() {
			for ctx.Err() == nil {
				_, _ = pruner.Prune(ctx, 0) // a conflict with creators is tried again
			}
		})
		for range creators {
			store := d.store(t)
			creating.Go(func() {
				enough := func() bool {
					mu.Lock()
					defer mu.Unlock()
					return len(given) >= wanted
				}
				for !enough() && ctx.Err() == nil {
					missing, err := store.Load(ctx, "billing")
					if err != nil || missing.Exists() {
						continue
					}
					record := tenure.Record{Token: missing.Record.Token + 1, Leader: "a", Session: "s", TTL: ttl}
					created, err := store.CompareAndSwap(ctx, "billing", "", record)
					if err != nil {
						continue
					}
					mu.Lock()
					if given[record.Token] {
						t.Errorf("token %d was given twice", record.Token)
					}
					given[record.Token] = true
					mu.Unlock()
					record.Leader, record.Session = "", ""
					_, _ = store.CompareAndSwap(ctx, "billing", created.Version, record)
				}
			})
		}
		creating.Wait()
		stop()
		pruning.Wait()
		if len(given) < wanted {
			t.Errorf("only %d creations were accepted", len(given))
		}
	})
}

// What Prune found may be in use again when it comes to delete it.
func TestPruneKeepsWhatChanged(t *testing.T) {
	d := sqlite(t)
	store := d.store(t)
	record := tenure.Record{Token: 1}
	created, err := store.CompareAndSwap(within(t), "billing", "", record)
	if err != nil {
		t.Fatal(err)
	}
	// A row that changes in the same instant in which it is judged: by a trigger on the floor.
	execute(t, d.open(t), `CREATE TRIGGER busy AFTER UPDATE ON tenure_elections_meta BEGIN UPDATE tenure_elections SET version = 'other'; END`)
	names, err := store.Prune(within(t), 0)
	if err != nil || len(names) > 0 {
		t.Errorf("Prune deleted %q, %v", names, err)
	}
	if found, err := store.Load(within(t), "billing"); err != nil || !found.Exists() || found.Version == created.Version {
		t.Errorf("Load: %+v, %v", found, err)
	}
}

// caseless is a dialect of somebody's own with a mistake: its keys ignore letter case.
type caseless struct{ sqlstore.SQLite }

func (c caseless) Syntax() sqlstore.Syntax {
	syntax := c.SQLite.Syntax()
	syntax.KeyType = "text COLLATE NOCASE"
	return syntax
}

// Keys that do not compare bytes must not make one election of two.
func TestDialectOfOnesOwnThatIgnoresCase(t *testing.T) {
	d := sqlite(t)
	d.dialect = caseless{}
	store := d.store(t)
	record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
	if _, err := store.CompareAndSwap(within(t), "billing", "", record); err != nil {
		t.Fatal(err)
	}
	if found, err := store.Load(within(t), "Billing"); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("Load returned %+v, %v, want ErrPermanent", found, err)
	}
}
