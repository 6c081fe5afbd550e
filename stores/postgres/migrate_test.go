package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

func TestManyMigrateAtOnce(t *testing.T) {
	url := server(t)
	const processes = 12
	var all sync.WaitGroup
	errs := make([]error, processes)
	for i := range processes {
		s := newTestStore(t, openPool(t, url), WithSchema("elections"))
		all.Go(func() { errs[i] = s.Migrate(context.Background()) })
	}
	all.Wait()
	must(t, errors.Join(errs...))
	s := newTestStore(t, openPool(t, url), WithSchema("elections"))
	storetest.Swap(t, s, "billing", "", held(1))
	must(t, s.Migrate(t.Context()))
	if !storetest.Load(t, s, "billing").Exists() {
		t.Error("Migrate lost a record")
	}
}

func TestNothingIsCreatedUnlessAsked(t *testing.T) {
	s := newTestStore(t, openPool(t, server(t)))
	_, err := s.Load(t.Context(), "billing")
	if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "tenure migrate") {
		t.Errorf("Load without tables: %v, want ErrPermanent that says how to make them", err)
	}
	if _, err := s.CompareAndSwap(t.Context(), "billing", "", held(1)); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("CompareAndSwap without tables: %v, want ErrPermanent", err)
	}
	if n := scalar[int](t, s.pool, `SELECT count(*)::int FROM pg_class WHERE relname LIKE 'tenure%'`); n != 0 {
		t.Errorf("there are %d relations", n)
	}
}

func TestMigrationSQLMakesWhatMigrateDoes(t *testing.T) {
	options := []Option{WithSchema(`its "own"`), WithTable("leases")}
	sql, err := MigrationSQL(options...)
	must(t, err)
	s := newTestStore(t, openPool(t, server(t)), options...)
	exec(t, s.pool, sql, pgx.QueryExecModeSimpleProtocol)
	must(t, s.Migrate(t.Context())) // finds everything there
	storetest.Swap(t, s, "billing", "", held(1))
	if strings.ContainsAny(strings.ReplaceAll(sql, "'{}'", ""), "{}") {
		t.Errorf("a name is left open in:\n%s", sql)
	}
	if _, err := MigrationSQL(WithTable(strings.Repeat("x", 60))); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("a name that is too long: %v, want ErrConfig", err)
	}
}

func TestTablesOfALaterVersion(t *testing.T) {
	s := openStore(t, server(t))
	storetest.Swap(t, s, "billing", "", held(1))
	exec(t, s.pool, `UPDATE tenure_state SET version = version + 1`)
	must(t, s.Migrate(t.Context()))
	storetest.Load(t, s, "billing")
	exec(t, s.pool, `UPDATE tenure_state SET readable_by = version`)
	_, err := s.Load(t.Context(), "billing")
	if migrating := s.Migrate(t.Context()); !errors.Is(err, tenure.ErrPermanent) || !errors.Is(migrating, tenure.ErrPermanent) {
		t.Errorf("with tables for later programs only: %v and %v, want ErrPermanent", err, migrating)
	}
}

// The grants that the README lists are enough, and each is needed.
func TestGrantsOfTheReadme(t *testing.T) {
	url := server(t)
	elections := WithSchema("elections")
	owner := openStore(t, url, elections)
	role := fmt.Sprintf("app_%d", time.Now().UnixNano())
	exec(t, owner.pool, "CREATE ROLE "+role+" LOGIN")
	defer exec(t, owner.pool, "DROP OWNED BY "+role+"; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol)
	grants := grantsOfReadme(t)
	if len(grants) < 4 {
		t.Fatalf("the README lists the grants %q", grants)
	}
	s := newTestStore(t, openPool(t, strings.Replace(url, "postgres@", role+"@", 1)), elections)
	for _, missing := range append(grants, "") {
		for _, grant := range grants {
			if grant != missing {
				exec(t, owner.pool, strings.Replace(grant, "TO app", "TO "+role, 1))
			}
		}
		err := useEverything(s)
		switch {
		case missing == "" && err != nil:
			t.Errorf("with all grants: %v", err)
		case missing != "" && !errors.Is(err, tenure.ErrPermanent):
			t.Errorf("without %q: %v, want ErrPermanent", missing, err)
		}
		exec(t, owner.pool, "DROP OWNED BY "+role)
		exec(t, owner.pool, "DELETE FROM elections.tenure")
	}
}

// grantsOfReadme returns the statements of the first block that begins with GRANT.
func grantsOfReadme(t *testing.T) (grants []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	must(t, err)
	_, block, _ := strings.Cut(string(text), "```sql\nGRANT ")
	block, _, _ = strings.Cut(block, "```")
	for _, line := range strings.Split(strings.TrimSpace("GRANT "+block), "\n") {
		statement, _, _ := strings.Cut(line, ";")
		grants = append(grants, statement)
	}
	return grants
}

func useEverything(s *Store) error {
	ctx := context.Background()
	before, err := s.Load(ctx, "billing")
	if err != nil {
		return err
	}
	record := held(before.Record.Token + 1)
	created, err := s.CompareAndSwap(ctx, "billing", "", record)
	if err != nil {
		return err
	}
	record.Leader, record.Session = "", ""
	if _, err := s.CompareAndSwap(ctx, "billing", created.Version, record); err != nil {
		return err
	}
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	if _, err := s.List(ctx); err != nil {
		return err
	}
	if _, err := s.Guarantee(ctx); err != nil {
		return err
	}
	_, err = s.Prune(ctx, 0)
	return err
}

// Every statement that the README shows works, apart from the grants, whose schema and user are examples.
func TestSQLOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	must(t, err)
	s := openStore(t, server(t))
	blocks := strings.Split(strings.ReplaceAll(string(text), "\n   ", "\n"), "```sql\n")[1:]
	run := 0
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, "GRANT") || !strings.Contains(block, "tenure") {
			continue
		}
		exec(t, s.pool, block, pgx.QueryExecModeSimpleProtocol)
		run++
	}
	if run < 3 {
		t.Fatalf("%d blocks were run", run)
	}
	if got := storetest.Load(t, s, "billing").Record; got.Token != 1000 || got.Pause == nil {
		t.Errorf("the record that the README creates by hand is %+v", got)
	}
}

func TestMigrationOfAURL(t *testing.T) {
	sql, err := MigrationOf("postgres://me:secret-word@h/db?schema=elections&table=leases&sslmode=require")
	if err != nil || !strings.Contains(sql, `CREATE TABLE "elections"."leases" (`) {
		t.Errorf("the SQL is %q, %v", sql, err)
	}
	if _, err := MigrationOf("postgres://me:secret-word@h/db?tabel=leases"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("an unknown parameter: %v, want ErrConfig", err)
	}
}
