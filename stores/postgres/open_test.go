package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

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
