package fence_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/sqlstore"
)

// What a guard does in a transaction is tested with real databases in sqlstore/sqltest.

func TestNewRefuses(t *testing.T) {
	for name, try := range map[string]func() (*fence.Guard, error){
		"no dialect": func() (*fence.Guard, error) { return fence.New(nil) },
		"no table":   func() (*fence.Guard, error) { return fence.New(sqlstore.MySQL{}, fence.WithTable("")) },
		"long schema": func() (*fence.Guard, error) {
			return fence.New(sqlstore.MySQL{}, fence.WithSchema(strings.Repeat("x", 49)))
		},
	} {
		if _, err := try(); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: the error is %v, want ErrConfig", name, err)
		}
	}
}

func TestAdvanceRefusesWhatNoTermHas(t *testing.T) {
	guard, err := fence.New(sqlstore.SQLite{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		resource, election string
		token              uint64
	}{
		"no resource":           {"", "e", 1},
		"a long resource":       {strings.Repeat("x", 256), "e", 1},
		"a resource, not UTF-8": {"\xff", "e", 1},
		"a resource of lines":   {"a\nb", "e", 1},
		"no election":           {"r", "", 1},
		"token 0":               {"r", "e", 0},
		"a token too large":     {"r", "e", tenure.MaxToken + 1},
	} {
		// There is no transaction: nothing may be sent.
		if err := guard.Advance(t.Context(), nil, test.resource, test.election, test.token); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: the error is %v, want ErrConfig", name, err)
		}
	}
	for name, row := range map[string]fence.Row{
		"no table":        {KeyColumn: "id", TokenColumn: "fence"},
		"no key column":   {Table: "t", TokenColumn: "fence"},
		"no token column": {Table: "t", KeyColumn: "id"},
	} {
		if err := guard.AdvanceRow(t.Context(), nil, row, 1); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: the error is %v, want ErrConfig", name, err)
		}
	}
	row := fence.Row{Table: "t", KeyColumn: "id", TokenColumn: "fence"}
	if err := guard.AdvanceRow(t.Context(), nil, row, 0); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("token 0 of a row: the error is %v, want ErrConfig", err)
	}
}

func TestTableIsQuoted(t *testing.T) {
	guard, err := fence.New(sqlstore.PostgreSQL{}, fence.WithSchema("ops"), fence.WithTable(`a"b`))
	if err != nil {
		t.Fatal(err)
	}
	if text := guard.MigrationSQL(); !strings.HasPrefix(text, `CREATE TABLE IF NOT EXISTS "ops"."a""b" (`) {
		t.Error(text)
	}
}
