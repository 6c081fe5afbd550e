package sqlstore

import (
	"errors"
	"fmt"
	"testing"
)

// The errors of known drivers, as far as they matter here.
type (
	numbered struct{ Number uint16 } // go-sql-driver
	stated   struct{ state string }  // pgx, lib/pq
	coded    struct{ code int }      // modernc.org/sqlite
	extended struct {                // mattn/go-sqlite3
		Code         int
		ExtendedCode int
	}
)

func (e *numbered) Error() string    { return fmt.Sprint("number ", e.Number) }
func (e *stated) Error() string      { return e.state }
func (e *stated) SQLState() string   { return e.state }
func (e *coded) Error() string       { return fmt.Sprint("code ", e.code) }
func (e *coded) Code() int           { return e.code }
func (e extended) Error() string     { return fmt.Sprint("code ", e.ExtendedCode) }
func wrapped(err error) error        { return fmt.Errorf("wrapped: %w", err) }
func mysqlError(number uint16) error { return wrapped(&numbered{number}) }
func pgError(state string) error     { return wrapped(&stated{state}) }

func TestClassify(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		err     error
		want    Outcome
	}{
		{MySQL{}, mysqlError(1062), Conflict},
		{MySQL{}, mysqlError(1205), NotApplied},
		{MySQL{}, mysqlError(1213), NotApplied},
		{MySQL{}, mysqlError(1290), ReadOnly},
		{MySQL{}, mysqlError(1836), ReadOnly},
		{MySQL{}, mysqlError(1146), NoTable},
		{MySQL{}, mysqlError(1142), Permanent},
		{MySQL{}, mysqlError(1045), Permanent},
		{MySQL{}, mysqlError(1053), Unknown}, // shutdown in progress: before or after the commit
		{MySQL{}, mysqlError(1317), Unknown}, // interrupted
		{PostgreSQL{}, pgError("23505"), Conflict},
		{PostgreSQL{}, pgError("40001"), NotApplied},
		{PostgreSQL{}, pgError("40P01"), NotApplied},
		{PostgreSQL{}, pgError("25006"), ReadOnly},
		{PostgreSQL{}, pgError("42P01"), NoTable},
		{PostgreSQL{}, pgError("42501"), Permanent},
		{PostgreSQL{}, pgError("28P01"), Permanent},
		{PostgreSQL{}, pgError("57P01"), Unknown}, // shut down by an administrator, perhaps after the commit
		{PostgreSQL{}, pgError("40003"), Unknown}, // statement completion unknown
		{PostgreSQL{}, pgError("08006"), Unknown}, // connection failure
		{SQLite{}, &coded{1555}, Conflict},        // constraint, primary key
		{SQLite{}, &coded{5}, NotApplied},
		{SQLite{}, &coded{517}, NotApplied}, // busy, snapshot
		{SQLite{}, extended{5, 261}, NotApplied},
		{SQLite{}, &coded{8}, Permanent},
		{SQLite{}, &coded{1}, NoTable},
		{SQLite{}, &coded{10}, Unknown}, // I/O error
		{SQLite{}, &coded{9}, Unknown},  // interrupted
	} {
		if got := test.dialect.Classify(test.err); got != test.want {
			t.Errorf("%T says of %v: %v, want %v", test.dialect, test.err, got, test.want)
		}
	}
	for _, dialect := range []Dialect{MySQL{}, PostgreSQL{}, SQLite{}} {
		if got := dialect.Classify(errors.New("something else")); got != Unknown {
			t.Errorf("%T says of something else: %v", dialect, got)
		}
	}
}
