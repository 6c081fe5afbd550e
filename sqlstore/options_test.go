package sqlstore

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

func TestNewRefuses(t *testing.T) {
	db := &sql.DB{}
	for name, try := range map[string]func() (*Store, error){
		"no database":         func() (*Store, error) { return New(nil, MySQL{}) },
		"no dialect":          func() (*Store, error) { return New(db, nil) },
		"no table":            func() (*Store, error) { return New(db, MySQL{}, WithTable("")) },
		"long table":          func() (*Store, error) { return New(db, MySQL{}, WithTable(strings.Repeat("x", 49))) },
		"table with a NUL":    func() (*Store, error) { return New(db, MySQL{}, WithTable("a\x00b")) },
		"table, not UTF-8":    func() (*Store, error) { return New(db, MySQL{}, WithTable("a\xffb")) },
		"long schema":         func() (*Store, error) { return New(db, MySQL{}, WithSchema(strings.Repeat("x", 49))) },
		"schema with a break": func() (*Store, error) { return New(db, MySQL{}, WithSchema("a\nb")) },
	} {
		if _, err := try(); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: the error is %v, want ErrConfig", name, err)
		}
	}
	if _, err := New(db, MySQL{}, nil, WithTable(strings.Repeat("x", 48)), WithSchema("s")); err != nil {
		t.Error(err)
	}
}

func TestNamesAreQuoted(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		want    string
	}{
		{MySQL{}, "`a``b`.`x``y\"z`"},
		{PostgreSQL{}, "\"a`b\".\"x`y\"\"z\""},
		{SQLite{}, "\"a`b\".\"x`y\"\"z\""},
	} {
		text, err := MigrationSQL(test.dialect, WithSchema("a`b"), WithTable("x`y\"z"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "CREATE TABLE IF NOT EXISTS " + test.want + " ("; !strings.Contains(text, want) {
			t.Errorf("%T: %s\nwant %s", test.dialect, text, want)
		}
	}
}

func TestMigrationSQLRefuses(t *testing.T) {
	if _, err := MigrationSQL(SQLite{}, WithTable("")); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("the error is %v, want ErrConfig", err)
	}
}
