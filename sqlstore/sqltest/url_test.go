package sqltest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/sqlstore"
)

// opened opens a store by its URL, checks that it works, and returns it.
func opened(t *testing.T, rawURL string) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(within(t), rawURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := store.Load(within(t), "billing"); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("Load after Close says %v", err)
		}
	})
	current, err := store.Load(within(t), "billing")
	if err != nil {
		t.Fatal(err)
	}
	record := tenure.Record{Token: current.Record.Token + 1, Leader: "a", Session: "s", TTL: ttl}
	if _, err := store.CompareAndSwap(within(t), "billing", current.Version, record); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestOpenMySQL(t *testing.T) {
	s := startMariaDB(t)
	opened(t, fmt.Sprintf("mysql://tenure:secret@%s/tenure", s.addr))
	opened(t, fmt.Sprintf("mysql://tenure:secret@%s/tenure?table=others&tls=false", s.addr))
	admin := s.database().open(t)
	restricted(t, s, admin)
	opened(t, fmt.Sprintf("mariadb://candidate:%s@%s/tenure?create=false", url.QueryEscape("pa$$/w@rd:?"), s.addr))
	for path, want := range map[string]string{
		"candidate:wrong-password@ADDR/tenure":                                    "Access denied",
		"tenure:secret@ADDR/nowhere":                                              "Unknown database",
		"tenure:secret@ADDR/tenure?create=false&table=none":                       "missing",
		"candidate:" + url.QueryEscape("pa$$/w@rd:?") + "@ADDR/tenure?table=none": `run "tenure migrate"`,
	} {
		_, err := sqlstore.Open(within(t), "mysql://"+strings.ReplaceAll(path, "ADDR", s.addr))
		switch {
		case !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), want):
			t.Errorf("%s: the error is %v, want ErrPermanent with %q", path, err, want)
		case strings.Contains(err.Error(), "wrong-password"), strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error quotes the password: %v", path, err)
		}
	}
}

func TestOpenSQLite(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	store := opened(t, "sqlite://"+dir+"/a%3Fb%23c%25d%20e.db?table=leaders")
	if _, err := filepath.Glob(dir + "/a*"); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(dir + "/*.db")
	if err != nil || len(found) != 1 || filepath.Base(found[0]) != "a?b#c%d e.db" {
		t.Errorf("the files are %q, %v", found, err)
	}
	guarantee, err := store.Guarantee(within(t))
	if err != nil || guarantee.Grade != tenure.GradeExclusive || !strings.Contains(fmt.Sprint(guarantee.Reasons), "wal") {
		t.Errorf("the guarantee is %+v, %v", guarantee, err)
	}
	if _, err := sqlstore.Open(within(t), "sqlite://"+dir+"/missing/x.db"); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("in a directory that is missing: %v", err)
	}
}

// A poll, and a swap, is one statement and one round trip.
func TestOneRoundTripPerCall(t *testing.T) {
	s := startMariaDB(t)
	store := opened(t, fmt.Sprintf("mysql://tenure:secret@%s/tenure", s.addr))
	current, err := store.Load(within(t), "billing")
	if err != nil {
		t.Fatal(err)
	}
	counter := s.database().open(t)
	counter.SetMaxOpenConns(1)
	// What is prepared takes a round trip of its own, and is no question.
	const sum = `SELECT CAST(SUM(variable_value) AS SIGNED) FROM information_schema.global_status
		WHERE variable_name IN ('Questions', 'Com_stmt_prepare')`
	questions := func() (n int) {
		if err := counter.QueryRowContext(within(t), sum).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	questions()
	before := questions()
	for range 5 {
		if _, err := store.Load(within(t), "billing"); err != nil {
			t.Fatal(err)
		}
		current.Record.Renewals++
		if current, err = store.CompareAndSwap(within(t), "billing", current.Version, current.Record); err != nil {
			t.Fatal(err)
		}
	}
	if got := questions() - before - 1; got != 10 { // one of them is the question itself
		t.Errorf("10 calls were %d requests", got)
	}
}

// Who only looks leaves no empty database behind, and one without a directory is said to be so.
func TestSQLiteFileThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "elections.db")
	for address, want := range map[string]string{
		"sqlite://" + path + "?create=false":             "elections.db",
		"sqlite://" + filepath.Join(dir, "no", "dir.db"): "make it first",
	} {
		_, err := sqlstore.Open(within(t), address)
		if !errors.Is(err, tenure.ErrNoStore) || !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ErrNoStore with %q", address, err, want)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("there is %v, %v", left, err)
	}
}
