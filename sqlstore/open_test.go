package sqlstore

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

func TestURLs(t *testing.T) {
	const sqlite = "?_pragma=busy_timeout%28250%29&_pragma=journal_mode%28WAL%29&_pragma=synchronous%28FULL%29"
	for _, test := range []struct{ url, driver, dsn string }{
		{"mysql://u:p@h/d", "mysql", "u:p@tcp(h:3306)/d?interpolateParams=true"},
		{"mariadb://u:p@h:1/d?table=x&create=false", "mysql", "u:p@tcp(h:1)/d?interpolateParams=true"},
		{"mysql://u@[::1]/d", "mysql", "u:@tcp([::1]:3306)/d?interpolateParams=true"},
		{"mysql://u:a%40b%2F%3Ac%3F@h/d%2Fe", "mysql", "u:a@b/:c?@tcp(h:3306)/d%2Fe?interpolateParams=true"},
		{"mysql://u:p@h/d?tls=skip-verify", "mysql", "u:p@tcp(h:3306)/d?interpolateParams=true&tls=skip-verify"},
		{"mysql://u:p@/d?socket=/run/db.sock", "mysql", "u:p@unix(/run/db.sock)/d?interpolateParams=true"},
		{"sqlite:///var/lib/x.db", "sqlite", "file:/var/lib/x.db" + sqlite},
		{"sqlite://localhost/x.db?table=t", "sqlite", "file:/x.db" + sqlite},
		{"sqlite:relative/x%20y.db", "sqlite", "file:relative/x%20y.db" + sqlite},
		{"sqlite:///a%3Fb%23c%25d.db", "sqlite", "file:/a%3Fb%23c%25d.db" + sqlite},
	} {
		got, err := parseURL(test.url)
		if err != nil || got.driver != test.driver || got.dsn != test.dsn {
			t.Errorf("%s: %q %q, %v\nwant %q %q", test.url, got.driver, got.dsn, err, test.driver, test.dsn)
		}
	}
}

func TestURLOptions(t *testing.T) {
	from, err := parseURL("sqlite:///x.db?table=t&create=false")
	if err != nil {
		t.Fatal(err)
	}
	if c := newConfig(from.options); c.table != "t" || !c.existing || from.migrate {
		t.Errorf("the options set %+v", c)
	}
	if from, err := parseURL("mysql://u:p@h/d?migrate=true"); err != nil || !from.migrate {
		t.Errorf("migrate=true became %+v, %v", from, err)
	}
}

func TestMigrationOfURL(t *testing.T) {
	want, err := MigrationSQL(SQLite{}, WithTable("t"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := MigrationOf("sqlite:///x.db?table=t"); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := MigrationOf("sqlite:"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("%v, want ErrConfig", err)
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	const password = "hunter2"
	for url, want := range map[string]string{
		"mysql://u:hunter2@h/d?tabel=x":         `no parameter "tabel"`,
		"mysql://u:hunter2@h/d?table=x&table=y": "more than once",
		"mysql://u:hunter2@h/d?create=maybe":    "want true or false",
		"mysql://u:hunter2@h/d?migrate=maybe":   "want true or false",
		"sqlite:x.db?create=false&migrate=true": "contradict",
		"mysql://u:hunter2@h/d?tls=custom":      "want one of",
		"mysql://u:hunter2@h/d?table=%zz":       "cannot be read",
		"mysql://u:hunter2@h/":                  "no database",
		"mysql://h/d":                           "no user",
		"mysql://u:hunter2@/d":                  "neither a host nor a socket",
		"mysql://u:hunter2@h/d?socket=/s":       "a host and a socket",
		"mysql://u%3Av:hunter2@h/d":             "colon",
		"mysql://u:hunter2@h:port/d":            "no URL",
		"mysql://u:hunter2@h/d%zz":              "no URL",
		"postgres://u:hunter2@h/d":              "unknown",
		"sqlite:":                               "names no file",
		"sqlite://host/x.db":                    "names a host",
		"sqlite::memory:":                       "in memory",
		"sqlite:///x.db?mode=ro":                `no parameter "mode"`,
		"u:hunter2@tcp(h:3306)/d":               "",
	} {
		_, err := Open(t.Context(), url)
		switch {
		case !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), want):
			t.Errorf("%s: the error is %v, want ErrConfig with %q", url, err, want)
		case strings.Contains(err.Error(), password):
			t.Errorf("%s: the error quotes the password: %v", url, err)
		}
	}
}

func TestOpenNamesTheDriver(t *testing.T) {
	// The root module links no driver.
	_, err := Open(t.Context(), "mysql://u:hunter2@h/d")
	if !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), "import github.com/go-sql-driver/mysql") {
		t.Errorf("the error is %v", err)
	}
}

func TestEveryColumnIsWrittenAndRead(t *testing.T) {
	var r row
	if n := len(r.values()); n != len(columns) || n != len(r.targets()) {
		t.Errorf("%d columns, %d values, %d targets", len(columns), n, len(r.targets()))
	}
	if sorted := slices.Sorted(slices.Values(columns)); len(slices.Compact(sorted)) != len(columns) {
		t.Errorf("columns twice: %q", columns)
	}
}

// Tables of an older layout are brought up to date if that is asked for, and never by merely opening them.
func TestOlderTablesAreAlteredOnRequestAlone(t *testing.T) {
	for _, c := range []struct {
		layout                 int
		existing, upgrade, may bool
	}{
		{0, false, false, true},
		{0, true, true, false},
		{1, false, false, false},
		{1, false, true, true},
		{1, true, true, false},
	} {
		if may := mayMigrate(c.layout, c.existing, c.upgrade); may != c.may {
			t.Errorf("%+v: %v", c, may)
		}
	}
}
