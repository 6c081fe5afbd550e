package sqlstore

import (
	"context"
	"database/sql"

	"github.com/tenure-go/tenure"
)

// Dialect is what a [Store] has to know of a kind of database. [PostgreSQL], [MySQL] and [SQLite] are there; another
// one is written with three methods, or made by embedding one of these. It holds nothing and is safe for concurrent
// use.
//
// The database has to change a row atomically under the condition in a statement's WHERE clause, whatever runs beside
// it, and report how many rows that were.
type Dialect interface {
	// Syntax returns how the database spells what the statements need. It is asked once for each store.
	Syntax() Syntax

	// Classify says what an error of a driver tells about the statement that it came from. If in doubt it is Unknown.
	Classify(err error) Outcome

	// Guarantee says how far acknowledged writes can be relied upon, as far as the server, asked over conn, can know.
	// What can never be asked, such as how backups are restored, is no reason for a lower grade.
	Guarantee(ctx context.Context, conn *sql.Conn) (tenure.Guarantee, error)
}

// Syntax is how a database spells what is not the same everywhere.
type Syntax struct {
	// Quote returns a name of a schema or table as an identifier that means exactly this name.
	Quote func(name string) string
	// Placeholder returns the n-th parameter of a statement, counted from 1.
	Placeholder func(n int) string
	// KeyType is the type of a column that holds up to 255 bytes of UTF-8 and can be a primary key. Values of it are
	// equal only if all bytes are: letter case, accents and trailing spaces count.
	KeyType string
	// TextType is the type of a column that holds text of up to a MiB, any character of Unicode included.
	TextType string
	// TableOptions follow the list of columns of a new table, empty for none.
	TableOptions string
	// Now is an expression: the milliseconds since 1970 by the database's own clock, as an integer, whatever the
	// session's time zone.
	Now string
	// ForShare and ForUpdate follow a SELECT that locks the rows that it reads, against writers and against all other
	// lockers, until the transaction ends, and reads their newest committed state. Empty for a database that runs one
	// writing statement or transaction at a time.
	ForShare, ForUpdate string
	// InsertNew is an insert that does nothing, and is no error, if there is such a row already. "%s" stands for the
	// table, its columns and the values.
	InsertNew string
	// Confirm is a query that returns once all that could be seen before it is as durable as an acknowledged write. Empty
	// for a database that shows nothing else, or whose grade does not rest upon that.
	Confirm string
}

// Outcome is what an error tells about the statement that it came from.
type Outcome uint8

// Outcomes of a statement that failed.
const (
	// Unknown: it may have been carried out, or may be yet.
	Unknown Outcome = iota
	// Conflict: it was not carried out, because somebody else was faster: the row, or table, is there already.
	Conflict
	// NotApplied: it was certainly not carried out, and may be tried again: lock timeout, deadlock, busy.
	NotApplied
	// ReadOnly: like NotApplied, by a server that accepts no writes, such as a replica or a former primary. The
	// connection is given up, so that the next try can find the primary.
	ReadOnly
	// NoTable: it was not carried out for want of a table or a column.
	NoTable
	// Permanent: it was not carried out, and trying again is useless: permissions, wrong data.
	Permanent
)

var outcomeNames = [...]string{"unknown", "conflict", "not applied", "read-only", "no table", "permanent"}

// String returns the outcome in words.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "invalid outcome"
}
