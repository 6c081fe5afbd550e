package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

func TestOpen(t *testing.T) {
	url := server(t)
	s, err := Open(t.Context(), url+"&schema=its+own&table=leases&mode=table&push=renewals&poll=250ms&migrate=true")
	must(t, err)
	storetest.Swap(t, s, "billing", "", held(1))
	if n := scalar[int](t, openPool(t, url), `SELECT count(*)::int FROM "its own".leases`); n != 1 {
		t.Errorf("the table that the URL names has %d rows, want 1", n)
	}
	if c := s.config; !c.pushRenewals || c.poll != 250*time.Millisecond {
		t.Errorf("the URL's parameters became %+v", c)
	}
	must(t, s.Close())
	if err := s.pool.Ping(t.Context()); err == nil {
		t.Error("Close left the pool open that Open had made")
	}
}

func TestOpenWithTheEnvironment(t *testing.T) {
	url := server(t)
	host, rest, _ := strings.Cut(strings.TrimPrefix(url, "postgres://postgres@"), ":")
	port, rest, _ := strings.Cut(rest, "/")
	database, _, _ := strings.Cut(rest, "?")
	for name, value := range map[string]string{
		"PGHOST": host, "PGPORT": port, "PGUSER": "postgres", "PGDATABASE": database, "PGSSLMODE": "disable",
	} {
		t.Setenv(name, value)
	}
	s, err := Open(t.Context(), "postgres://?migrate=true")
	must(t, err)
	defer s.Close()
	storetest.Swap(t, s, "billing", "", held(1))
	if n := scalar[int](t, openPool(t, url), `SELECT count(*)::int FROM tenure`); n != 1 {
		t.Errorf("the table has %d rows, want 1", n)
	}
}

func TestOpenRefusesWhatItDoesNotKnow(t *testing.T) {
	for url, want := range map[string]string{
		"mysql://h/db":                            "postgres://",
		"postgres://h/db?tabel=x":                 `"tabel"`,
		"postgres://h/db?table=x&table=y":         "more than once",
		"postgres://h/db?table=":                  "no name",
		"postgres://h/db?mode=tabel":              "want one of table, advisory",
		"postgres://h/db?push=all":                "want one of changes, renewals",
		"postgres://h/db?poll=often":              "poll",
		"postgres://h/db?poll=1ms":                "1ms",
		"postgres://h/db?migrate=perhaps":         "migrate",
		"postgres://h/db?create=perhaps":          "create",
		"postgres://h/db?create=0&migrate=1":      "contradict",
		"postgres://h/db?sslmode=perhaps":         "sslmode",
		"postgres://h/db?%zz":                     "parameters",
		"postgres://h:port/db":                    "port",
		"postgres://h/db?pool_max_conns=0":        "pool_max_conns",
		"postgres://h/db?synchronous_comit=local": "options",
	} {
		_, err := Open(t.Context(), url)
		if !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ErrConfig and %q", url, err, want)
		}
	}
}

func TestNoErrorShowsThePassword(t *testing.T) {
	t.Setenv("PGCONNECT_TIMEOUT", "5")
	for _, url := range []string{
		"postgres://me:secret-word@127.0.0.1:1/db",
		"postgres://me:secret-word@127.0.0.1:port/db",
		"postgres://me:secret%2Dword@127.0.0.1:port/db",
		"postgres://me:secret-word@127.0.0.1:1:2:3/db",
		"postgres://me:secret-word/db?sslmode=x",
		"postgres://me@127.0.0.1:1/db?password=secret-word&sslmode=x",
		"postgres://me@127.0.0.1:1/db?password=secret-word&password=secret-word",
		"postgres://me@127.0.0.1:1/db?password=secret-word&table=",
		"postgres://me@127.0.0.1:1/db?password=secret-word&table=secret-word%00",
	} {
		_, err := Open(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error is %v", url, err)
		}
	}
}

func TestNewRefusesWhatIsOutOfBounds(t *testing.T) {
	pool := openPool(t, "postgres://127.0.0.1:1/db")
	if _, err := New(nil); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("no pool: %v, want ErrConfig", err)
	}
	for _, o := range []Option{
		WithTable(""), WithTable(strings.Repeat("x", 56)), WithTable("a\x00b"), WithTable("\xff"), WithSchema(""),
		WithSchema(strings.Repeat("x", 64)), WithPollInterval(time.Millisecond), WithPollInterval(-1),
	} {
		if _, err := New(pool, o); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("an option out of bounds: %v, want ErrConfig", err)
		}
	}
}

// A new user gets going at once: Open makes what is missing, once for any number of processes.
func TestOpenMakesMissingTables(t *testing.T) {
	url := server(t)
	for _, mode := range []string{"", "&mode=advisory&table=others"} {
		s := openAny(t, url+mode)
		storetest.Swap(t, s, "billing", "", held(1))
		again := openAny(t, url+mode+"&create=false")
		if !storetest.Load(t, again, "billing").Exists() {
			t.Error("with create=false the record that is there was not found")
		}
	}
}

// openAny opens the store of either mode and closes it with the test.
func openAny(t *testing.T, url string) tenure.Store {
	t.Helper()
	mode, err := Mode(url)
	must(t, err)
	if mode == ModeAdvisory {
		a, err := OpenAdvisory(t.Context(), url)
		must(t, err)
		t.Cleanup(func() { _ = a.Close() })
		return a
	}
	s, err := Open(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestOpenMakesNothingThatShallExist(t *testing.T) {
	url := server(t)
	for _, o := range []struct {
		url     string
		options []Option
	}{{url + "&create=false", nil}, {url, []Option{WithExistingTables()}}} {
		_, err := Open(t.Context(), o.url, o.options...)
		if !errors.Is(err, tenure.ErrNoStore) || !errors.Is(err, tenure.ErrPermanent) ||
			!strings.Contains(err.Error(), "tenure migrate") {
			t.Errorf("%s: %v, want ErrNoStore that says what makes the tables", o.url, err)
		}
	}
	if n := scalar[int](t, openPool(t, url), `SELECT count(*)::int FROM pg_class WHERE relname LIKE 'tenure%'`); n != 0 {
		t.Errorf("there are %d relations", n)
	}
}

// A role that may not create tables gets one error that says who can, and once that is done it can open the store.
func TestOpenWithoutTheRightToCreate(t *testing.T) {
	url := server(t)
	owner := openPool(t, url)
	role := fmt.Sprintf("poor_%d", time.Now().UnixNano())
	exec(t, owner, "CREATE ROLE "+role+" LOGIN")
	exec(t, owner, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // the default from version 15 on
	defer exec(t, owner, "DROP OWNED BY "+role+"; DROP ROLE "+role, pgx.QueryExecModeSimpleProtocol)
	poor := strings.Replace(url, "postgres@", role+"@", 1)
	for _, where := range []string{"", "&schema=elections"} {
		_, err := Open(t.Context(), poor+where)
		if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), `run "tenure migrate"`) {
			t.Errorf("without the right to create: %v, want ErrPermanent that says who can", err)
		}
	}
	must(t, openStore(t, url).Migrate(t.Context()))
	exec(t, owner, "GRANT SELECT, INSERT, UPDATE ON tenure TO "+role)
	exec(t, owner, "GRANT SELECT, UPDATE (floor) ON tenure_state TO "+role)
	storetest.Swap(t, openAny(t, poor), "billing", "", held(1))
}

// Tables of an older version are brought up to date if that is asked for, and never by merely opening them.
func TestOlderTablesAreAlteredOnRequestAlone(t *testing.T) {
	for _, c := range []struct {
		version           int
		existing, upgrade bool
		refused           bool
	}{
		{0, false, false, false},
		{0, false, true, false},
		{0, true, false, true},
		{0, true, true, true},
		{1, false, false, true},
		{1, false, true, false},
		{1, true, true, true},
	} {
		err := refusal(c.version, 2, c.existing, c.upgrade)
		if (err != nil) != c.refused || errors.Is(err, tenure.ErrNoStore) != (c.refused && c.version == 0) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
