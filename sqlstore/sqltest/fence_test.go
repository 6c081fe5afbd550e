package sqltest

import (
	"context"
	cryptorand "crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/sqlstore"
)

// isolations are the levels that a database has. Each transaction in these tests is read-write.
func isolations(d database) []sql.IsolationLevel {
	switch d.dialect.(type) {
	case sqlstore.MySQL:
		return []sql.IsolationLevel{
			sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable,
		}
	case sqlstore.PostgreSQL:
		return []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}
	}
	return []sql.IsolationLevel{sql.LevelDefault}
}

// fenceTests are run with each isolation level of each kind of database.
var fenceTests = []struct {
	name string
	run  func(t *testing.T, g *guarded)
}{
	{"RefusesAnOlderTerm", fenceRefusesAnOlderTerm},
	{"SeesBeyondTheSnapshot", fenceSeesBeyondTheSnapshot},
	{"WaitsForTheNewerTerm", fenceWaitsForTheNewerTerm},
	{"HoldsTheNewerTermBack", fenceHoldsTheNewerTermBack},
	{"KeepsTheOrderOfTerms", fenceKeepsTheOrderOfTerms},
	{"KeepsElectionsAndResourcesApart", fenceKeepsElectionsAndResourcesApart},
	{"Row", fenceRow},
	{"WithoutItsTable", fenceWithoutItsTable},
}

func TestFence(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		for _, level := range isolations(d) {
			for _, test := range fenceTests {
				t.Run(level.String()+"/"+test.name, func(t *testing.T) { test.run(t, newGuarded(t, d, level)) })
			}
		}
	})
}

// guarded is a database with work that is guarded: a ledger of who wrote what, in order, and things that carry marks.
type guarded struct {
	*testing.T
	database
	db    *sql.DB
	guard *fence.Guard
	level sql.IsolationLevel
}

func newGuarded(t *testing.T, d database, level sql.IsolationLevel) *guarded {
	g := &guarded{T: t, database: d, db: d.open(t), level: level}
	var err error
	if g.guard, err = fence.New(d.dialect, fence.WithTable("marks of "+strings.ToLower(cryptorand.Text()))); err != nil {
		t.Fatal(err)
	}
	if err := g.guard.Migrate(within(t), g.db); err != nil {
		t.Fatal(err)
	}
	execute(t, g.db, `DROP TABLE IF EXISTS ledger
		DROP TABLE IF EXISTS things
		CREATE TABLE ledger (seq integer NOT NULL PRIMARY KEY, token bigint NOT NULL)
		CREATE TABLE things (id integer NOT NULL PRIMARY KEY, value integer NOT NULL, fence bigint)
		INSERT INTO things VALUES (1, 0, NULL)`)
	return g
}

func (g *guarded) begin() *sql.Tx {
	g.Helper()
	tx, err := g.db.BeginTx(within(g), &sql.TxOptions{Isolation: g.level})
	if err != nil {
		g.Fatal(err)
	}
	g.Cleanup(func() { tx.Rollback() })
	return tx
}

func (g *guarded) advance(tx *sql.Tx, token uint64) error {
	return g.guard.Advance(within(g), tx, "ledger", "billing", token)
}

// enter writes the token into the ledger, after all that it sees there.
func (g *guarded) enter(tx *sql.Tx, token uint64) error {
	var last int
	if err := tx.QueryRowContext(within(g), "SELECT COALESCE(MAX(seq), 0) FROM ledger").Scan(&last); err != nil {
		return err
	}
	p := g.dialect.Syntax().Placeholder
	_, err := tx.ExecContext(within(g), fmt.Sprintf("INSERT INTO ledger VALUES (%s, %s)", p(1), p(2)), last+1, token)
	return err
}

func (g *guarded) ledger() (tokens []uint64) {
	g.Helper()
	rows, err := g.db.QueryContext(within(g), "SELECT token FROM ledger ORDER BY seq")
	if err != nil {
		g.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var token uint64
		if err := rows.Scan(&token); err != nil {
			g.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	if err := rows.Err(); err != nil {
		g.Fatal(err)
	}
	return tokens
}

func (g *guarded) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// retryable reports whether the database refused the transaction because of another one, so that it is to be run again.
func (g *guarded) retryable(err error) bool { return g.dialect.Classify(err) == sqlstore.NotApplied }

// attempt runs a whole transaction, as often as the database asks for it.
func (g *guarded) attempt(token uint64) error {
	for {
		tx, err := g.db.BeginTx(within(g), &sql.TxOptions{Isolation: g.level})
		if err == nil {
			if err = g.advance(tx, token); err == nil {
				err = g.enter(tx, token)
			}
			if err == nil {
				err = tx.Commit()
			}
			tx.Rollback()
		}
		if err == nil || !g.retryable(err) {
			return err
		}
	}
}

// Who has forgotten the table is told which one it is and how it is made, and by errors.Is.
func fenceWithoutItsTable(t *testing.T, g *guarded) {
	const name = "Never Made"
	guard, err := fence.New(g.dialect, fence.WithTable(name))
	g.must(err)
	advance := func(tx *sql.Tx) error { return guard.Advance(within(g), tx, "ledger", "billing", 1) }
	tx := g.begin()
	_, reading := guard.Mark(within(g), g.db, "ledger", "billing")
	for doing, err := range map[string]error{"advancing": advance(tx), "reading": reading} {
		if !errors.Is(err, fence.ErrNoTable) || !strings.Contains(err.Error(), g.dialect.Syntax().Quote(name)+"; call Migrate") {
			t.Errorf("%s: %v", doing, err)
		}
	}
	g.must(tx.Rollback())
	g.must(guard.Migrate(within(g), g.db))
	tx = g.begin()
	g.must(advance(tx))
	g.must(tx.Commit())
	execute(t, g.db, "DROP TABLE "+g.dialect.Syntax().Quote(name))
}

func fenceRefusesAnOlderTerm(t *testing.T, g *guarded) {
	for _, token := range []uint64{3, 3, 5} {
		g.must(g.attempt(token))
	}
	err := g.attempt(4)
	var stale *fence.StaleError
	if !errors.Is(err, fence.ErrStale) || !errors.As(err, &stale) || stale.Token != 4 || stale.Mark != 5 {
		t.Errorf("the error is %v, want ErrStale with tokens 4 and 5", err)
	}
	if mark, err := g.guard.Mark(within(t), g.db, "ledger", "billing"); mark != 5 || err != nil {
		t.Errorf("the mark is %d, %v, want 5", mark, err)
	}
	if got := fmt.Sprint(g.ledger()); got != "[3 3 5]" {
		t.Errorf("the ledger is %s", got)
	}
}

// A leader that is late by a snapshot: it looked around before the new leader did its work.
func fenceSeesBeyondTheSnapshot(t *testing.T, g *guarded) {
	g.must(g.attempt(5))
	late := g.begin()
	var count int
	g.must(late.QueryRowContext(within(t), "SELECT count(*) FROM things").Scan(&count)) // begins the snapshot
	g.must(g.attempt(6))
	err := g.advance(late, 5)
	if !errors.Is(err, fence.ErrStale) && !g.retryable(err) {
		t.Errorf("the error is %v, want ErrStale or one that asks to run the transaction again", err)
	}
	g.must(late.Rollback())
	if err := g.attempt(5); !errors.Is(err, fence.ErrStale) {
		t.Errorf("run again, the error is %v, want ErrStale", err)
	}
}

// Two leaders act at once, and the newer one is first: the older one waits, and is refused.
func fenceWaitsForTheNewerTerm(t *testing.T, g *guarded) {
	g.must(g.attempt(5))
	newer := g.begin()
	g.must(g.advance(newer, 6))
	g.must(g.enter(newer, 6))
	older := make(chan error, 1)
	go func() { older <- g.attempt(5) }()
	g.must(newer.Commit())
	if err := <-older; !errors.Is(err, fence.ErrStale) {
		// It may also have been first: SQLite gives the lock to whom it likes, but the newer one holds it here.
		t.Errorf("the error of the older one is %v, want ErrStale", err)
	}
	if got := fmt.Sprint(g.ledger()); got != "[5 6]" {
		t.Errorf("the ledger is %s", got)
	}
}

// The older one is first: the newer one waits until all of the older one's work is committed.
func fenceHoldsTheNewerTermBack(t *testing.T, g *guarded) {
	g.must(g.attempt(5))
	older := g.begin()
	g.must(g.advance(older, 5))
	newer := make(chan error, 1)
	go func() { newer <- g.attempt(6) }()
	g.must(g.enter(older, 5))
	g.must(older.Commit())
	g.must(<-newer)
	if got := fmt.Sprint(g.ledger()); got != "[5 5 6]" {
		t.Errorf("the ledger is %s", got)
	}
}

// Leaders of rising terms work at once, each believing that it leads. What is committed never goes back to an older one.
func fenceKeepsTheOrderOfTerms(t *testing.T, g *guarded) {
	const leaders, works = 6, 12
	var running sync.WaitGroup
	for leader := range leaders {
		running.Go(func() {
			for range works {
				token := uint64(1 + leader + rand.IntN(2)*leaders/2)
				if err := g.attempt(token); err != nil && !errors.Is(err, fence.ErrStale) {
					t.Errorf("token %d: %v", token, err)
				}
			}
		})
	}
	running.Wait()
	ledger := g.ledger()
	for i := 1; i < len(ledger); i++ {
		if ledger[i] < ledger[i-1] {
			t.Fatalf("token %d wrote after %d: %v", ledger[i], ledger[i-1], ledger)
		}
	}
	if len(ledger) == 0 {
		t.Error("nothing was written")
	}
}

func fenceKeepsElectionsAndResourcesApart(t *testing.T, g *guarded) {
	tx := g.begin()
	for _, names := range [][2]string{{"a", "b"}, {"A", "b"}, {"a", "B"}, {"a ", "b"}, {"a", "b "}, {"é", "b"}, {"e", "b"}} {
		for _, token := range []uint64{1, 9} {
			if err := g.guard.Advance(within(t), tx, names[0], names[1], token); err != nil {
				t.Fatalf("%q: %v", names, err)
			}
		}
	}
	g.must(tx.Commit())
}

func fenceRow(t *testing.T, g *guarded) {
	row := fence.Row{Table: "things", KeyColumn: "id", Key: 1, TokenColumn: "fence"}
	change := func(ctx context.Context, token uint64) error {
		tx, err := g.db.BeginTx(ctx, &sql.TxOptions{Isolation: g.level})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := g.guard.AdvanceRow(ctx, tx, row, token); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE things SET value = value + 1 WHERE id = 1"); err != nil {
			return err
		}
		return tx.Commit()
	}
	// The same token twice changes nothing in the row that some drivers would count.
	for _, token := range []uint64{3, 3, 5} {
		g.must(change(within(t), token))
	}
	var stale *fence.StaleError
	if err := change(within(t), 4); !errors.As(err, &stale) || stale.Token != 4 || stale.Mark != 5 {
		t.Errorf("the error is %v, want ErrStale with tokens 4 and 5", err)
	}
	var value int
	g.must(g.db.QueryRowContext(within(t), "SELECT value FROM things WHERE id = 1").Scan(&value))
	if value != 3 {
		t.Errorf("the row was changed %d times, want 3", value)
	}
	row.Key = 2
	if err := change(within(t), 9); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("without such a row the error is %v, want ErrNoRows", err)
	}
}

func TestFenceMigrationsAtOnce(t *testing.T) {
	onAll(t, func(t *testing.T, d database) {
		var running sync.WaitGroup
		for range 8 {
			guard, err := fence.New(d.dialect)
			if err != nil {
				t.Fatal(err)
			}
			db := d.open(t)
			running.Go(func() {
				if err := guard.Migrate(within(t), db); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
	})
}
