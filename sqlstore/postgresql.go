package sqlstore

import (
	"strconv"
	"strings"
)

// PostgreSQL is the [Dialect] of PostgreSQL 12 and newer. It knows the errors of drivers that have a method
// SQLState, such as pgx and lib/pq.
type PostgreSQL struct{}

var _ Dialect = PostgreSQL{}

// Syntax implements [Dialect].
func (PostgreSQL) Syntax() Syntax {
	return Syntax{
		Quote:       func(name string) string { return quoted(name, `"`) },
		Placeholder: func(n int) string { return "$" + strconv.Itoa(n) },
		KeyType:     `text COLLATE "C"`,
		TextType:    "text",
		// now() stands still within a transaction.
		Now:       "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
		ForShare:  "FOR SHARE",
		ForUpdate: "FOR UPDATE",
		InsertNew: "INSERT INTO %s ON CONFLICT DO NOTHING",
		// A transaction that only reads waits for no standby, and so may see what none has.
		Confirm: `SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
 THEN pg_logical_emit_message(true, 'tenure'::text, ''::text)::text END`,
	}
}

// Classify implements [Dialect]. An error that the server reports for a single statement means that its transaction
// was rolled back; not so an end of the connection, which may come between commit and acknowledgement.
func (PostgreSQL) Classify(err error) Outcome {
	state := sqlState(err)
	if len(state) != 5 {
		return Unknown
	}
	switch state {
	case "23505", "42P07", "42710": // unique_violation, duplicate_table, duplicate_object
		return Conflict
	case "25006": // read_only_sql_transaction
		return ReadOnly
	case "42P01", "42703", "3F000": // undefined_table, undefined_column, invalid_schema_name
		return NoTable
	case "40001", "40P01", "55P03", "57014": // serialization, deadlock, lock_not_available, query_canceled
		return NotApplied
	case "57P03", "53300": // cannot_connect_now, too_many_connections
		return NotApplied
	}
	switch state[:2] {
	case "22", "28", "3D", "42": // data, authorization, database, syntax or access rule
		return Permanent
	}
	return Unknown
}

// quoted puts a name between quotes and doubles those in it.
func quoted(name, quote string) string {
	return quote + strings.ReplaceAll(name, quote, quote+quote) + quote
}
