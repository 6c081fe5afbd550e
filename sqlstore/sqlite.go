package sqlstore

// SQLite is the [Dialect] of SQLite 3.24 and newer, for any number of processes on one host. It knows the errors of
// drivers that have a method Code (modernc.org/sqlite) or a field ExtendedCode or Code (mattn/go-sqlite3).
//
// The database should be in WAL mode, in which readers and the writer do not wait for each other, and connections
// should have a busy timeout well below the candidates' call timeout: writers wait that long for each other, and
// without it fail at once, which costs them a pause.
type SQLite struct{}

var _ Dialect = SQLite{}

// Syntax implements [Dialect]. SQLite has one writer at a time, so a statement that writes needs no locks on rows.
func (SQLite) Syntax() Syntax {
	return Syntax{
		Quote:       func(name string) string { return quoted(name, `"`) },
		Placeholder: func(int) string { return "?" },
		KeyType:     "text COLLATE BINARY",
		TextType:    "text",
		Now:         "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
		InsertNew:   "INSERT OR IGNORE INTO %s",
	}
}

// Primary result codes of SQLite; an extended code has one of them in its lowest byte.
const (
	sqliteError      = 1
	sqlitePerm       = 3
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteReadOnly   = 8
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteCantOpen   = 14
	sqliteSchema     = 17
	sqliteConstraint = 19
	sqliteAuth       = 23
	sqliteNotADB     = 26
)

// Classify implements [Dialect]. SQLite rolls back a statement that fails; only an error of the disk, which can come
// after the commit was written, leaves the outcome open.
func (SQLite) Classify(err error) Outcome {
	code, ok := errorCode(err, "ExtendedCode", "Code")
	if !ok {
		return Unknown
	}
	switch code & 0xff {
	case sqliteConstraint:
		return Conflict
	case sqliteBusy, sqliteLocked, sqliteFull, sqliteSchema:
		return NotApplied
	case sqliteError: // a statement that cannot be compiled: our statements are right if their tables are
		return NoTable
	case sqliteReadOnly, sqlitePerm, sqliteCantOpen, sqliteCorrupt, sqliteNotADB, sqliteAuth:
		return Permanent
	}
	return Unknown
}
