package sqltest

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/sqlstore"
)

func TestMigrationsAtOnce(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		const processes = 12
		var running sync.WaitGroup
		for i := range processes {
			store, err := sqlstore.New(d.open(t), d.dialect, sqlstore.WithTable(`odd "name" of `+"`tables`"))
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() {
				if err := store.Migrate(within(t)); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
				if _, err := store.Load(within(t), "billing"); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
			})
		}
		running.Wait()
	})
}

// A process that was killed while it migrated leaves some of the tables.
func TestMigrationGoesOnWhereItWasInterrupted(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		text, err := sqlstore.MigrationSQL(d.dialect)
		if err != nil {
			t.Fatal(err)
		}
		statements := strings.SplitAfter(strings.TrimSuffix(text, "\n"), ";\n")
		db := d.open(t)
		for done := range statements {
			execute(t, db, "DROP TABLE IF EXISTS tenure_elections\nDROP TABLE IF EXISTS tenure_elections_meta")
			for _, statement := range statements[:done] {
				if _, err := db.ExecContext(within(t), strings.TrimSuffix(statement, ";\n")); err != nil {
					t.Fatal(err)
				}
			}
			store, err := sqlstore.New(db, d.dialect)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := store.Load(within(t), "billing"); !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "Migrate") {
				t.Errorf("after %d statements Load says %v", done, err)
			}
			if err := store.Migrate(within(t)); err != nil {
				t.Errorf("after %d statements: %v", done, err)
			}
			if _, err := store.Load(within(t), "billing"); err != nil {
				t.Errorf("after %d statements and Migrate: %v", done, err)
			}
		}
	})
}

func TestExistingTables(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		db := d.open(t)
		store, err := sqlstore.New(db, d.dialect, sqlstore.WithExistingTables())
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Migrate(within(t)); !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "MigrationSQL") {
			t.Errorf("without tables Migrate says %v", err)
		}
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
		if _, err := store.CompareAndSwap(within(t), "billing", "", record); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("without tables CompareAndSwap says %v", err)
		}
		text, err := sqlstore.MigrationSQL(d.dialect)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // it can be repeated
			for statement := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
				if _, err := db.ExecContext(within(t), strings.TrimSuffix(statement, ";")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := store.Migrate(within(t)); err != nil {
			t.Errorf("with tables Migrate says %v", err)
		}
	})
}

func TestTablesOfANewerLayout(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		store, db := d.store(t), d.open(t)
		execute(t, db, "UPDATE tenure_elections_meta SET layout = 2")
		for what, err := range map[string]error{
			"Migrate": store.Migrate(within(t)),
			"Load":    func() error { _, err := store.Load(within(t), "billing"); return err }(),
		} {
			if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "upgrade") {
				t.Errorf("%s says %v", what, err)
			}
		}
		execute(t, db, "DELETE FROM tenure_elections_meta")
		if _, err := store.Load(within(t), "billing"); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("without a layout Load says %v", err)
		}
	})
}

// A row that somebody damaged by hand is refused, and Prune and List go on with the others.
func TestDamagedRow(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		store := d.store(t)
		for _, name := range []string{"damaged", "sound"} {
			if _, err := store.CompareAndSwap(within(t), name, "", tenure.Record{Token: 1}); err != nil {
				t.Fatal(err)
			}
		}
		execute(t, d.open(t), "UPDATE tenure_elections SET pause = 'until noon' WHERE election = 'damaged'")
		if _, err := store.Load(within(t), "damaged"); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("Load says %v", err)
		}
		if names, err := store.Prune(within(t), 0); fmt.Sprint(names) != "[sound]" || !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("Prune returns %q, %v", names, err)
		}
		if names, err := store.List(within(t)); fmt.Sprint(names) != "[damaged]" || err != nil {
			t.Errorf("List returns %q, %v", names, err)
		}
	})
}

// grants are the rights that the README names, of a user who takes part in elections.
var grants = map[string]string{
	"mysql": `CREATE USER candidate IDENTIFIED BY 'pa$$/w@rd:?'
		GRANT SELECT, INSERT, UPDATE ON tenure.tenure_elections TO candidate
		GRANT SELECT, UPDATE ON tenure.tenure_elections_meta TO candidate`,
	"pgx": `CREATE ROLE candidate LOGIN
		GRANT SELECT, INSERT, UPDATE ON tenure_elections TO candidate
		GRANT SELECT, UPDATE ON tenure_elections_meta TO candidate`,
}

// restricted makes a user with these rights and returns the database as that user reaches it. The tables must be there.
func restricted(tb testing.TB, s server, admin *sql.DB) database {
	tb.Helper()
	d := s.database()
	execute(tb, admin, grants[d.driver])
	switch d.driver {
	case "mysql":
		d.dsn = fmt.Sprintf("candidate:pa$$/w@rd:?@tcp(%s)/tenure", s.addr)
	case "pgx":
		d.dsn = fmt.Sprintf("postgres://candidate@%s/postgres?sslmode=disable", s.addr)
	}
	return d
}

// The rights in the README are enough to take part, and less is not asked for by anything.
func TestRestrictedUser(t *testing.T) {
	onServers(t, func(t *testing.T, s server) {
		admin := s.database().open(t)
		owner := s.database().storeOver(t, admin)
		d := restricted(t, s, admin)
		store := d.store(t) // Migrate included: it finds that there is nothing to do
		f := fleet.New(t)
		defer f.Check()
		f.Stand(store, "restricted")
		f.Next()
		if _, err := store.Guarantee(within(t)); err != nil {
			t.Errorf("Guarantee: %v", err)
		}
		if names, err := store.List(within(t)); len(names) != 1 || err != nil {
			t.Errorf("List: %q, %v", names, err)
		}
		if _, err := owner.CompareAndSwap(within(t), "unused", "", tenure.Record{Token: 1}); err != nil {
			t.Fatal(err)
		}
		if names, err := store.Prune(within(t), 0); len(names) > 0 || !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("Prune without the right to delete: %q, %v", names, err)
		}
		execute(t, admin, "GRANT DELETE ON tenure_elections TO candidate")
		if names, err := store.Prune(within(t), 0); fmt.Sprint(names) != "[unused]" || err != nil {
			t.Errorf("Prune: %q, %v", names, err)
		}
		stranger, err := sqlstore.New(d.open(t), d.dialect, sqlstore.WithTable("others"))
		if err != nil {
			t.Fatal(err)
		}
		if err := stranger.Migrate(within(t)); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("Migrate without the right to create tables: %v", err)
		}
	})
}

// So are those in the README of package fence.
func TestRestrictedUserOfAGuard(t *testing.T) {
	onServers(t, func(t *testing.T, s server) {
		admin := s.database().open(t)
		s.database().storeOver(t, admin)
		d := restricted(t, s, admin)
		guard, err := fence.New(d.dialect)
		if err != nil {
			t.Fatal(err)
		}
		db := d.open(t)
		if err := guard.Migrate(within(t), db); err == nil {
			t.Error("Migrate made a table without the right to")
		}
		if err := guard.Migrate(within(t), admin); err != nil {
			t.Fatal(err)
		}
		execute(t, admin, "GRANT SELECT, INSERT, UPDATE ON tenure_fence TO candidate")
		if err := guard.Migrate(within(t), db); err != nil {
			t.Errorf("Migrate with nothing to do: %v", err)
		}
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for _, test := range []struct {
			token uint64
			want  error
		}{{7, nil}, {8, nil}, {7, fence.ErrStale}} {
			if err := guard.Advance(within(t), tx, "ledger", "billing", test.token); !errors.Is(err, test.want) {
				t.Errorf("token %d: %v, want %v", test.token, err, test.want)
			}
		}
	})
}
