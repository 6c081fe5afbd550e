package sqlstore

// MySQL is the [Dialect] of MySQL 5.7, MariaDB 10.2, and newer ones of both, with InnoDB. It knows the errors of
// drivers that keep the server's number in a field Number, such as go-sql-driver's, or Code.
//
// It does not depend on the driver's options: every write changes the version, so that the number of changed rows is
// that of found rows, and times are kept as text. The isolation level does not matter to it either, apart from READ
// UNCOMMITTED: a swap is one statement, which sees and locks the newest committed state, whatever snapshot there is.
type MySQL struct{}

var _ Dialect = MySQL{}

// Syntax implements [Dialect].
func (MySQL) Syntax() Syntax {
	return Syntax{
		Quote:       func(name string) string { return quoted(name, "`") },
		Placeholder: func(int) string { return "?" },
		// A text type would compare by its collation, and most collations ignore trailing spaces, the binary ones too.
		KeyType:      "varbinary(255)",
		TextType:     "mediumtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		TableOptions: "ENGINE=InnoDB",
		// UNIX_TIMESTAMP reads a local time, of which the end of summer time has some twice.
		Now:       "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000",
		ForShare:  "LOCK IN SHARE MODE",
		ForUpdate: "FOR UPDATE",
		InsertNew: "INSERT IGNORE INTO %s",
	}
}

// Classify implements [Dialect].
func (MySQL) Classify(err error) Outcome {
	number, ok := errorCode(err, "Number", "Code")
	if !ok {
		return Unknown
	}
	switch number {
	case 1062, 1050: // duplicate entry, table exists
		return Conflict
	case 1205, 1213, 1020: // lock wait timeout, deadlock, record has changed since last read
		return NotApplied
	case 1040, 1203, 1226, 1047: // too many connections, of a user; limit reached; Galera node not ready
		return NotApplied
	case 1290, 1792, 1836: // --read-only, read-only transaction, read-only mode
		return ReadOnly
	case 1146, 1054: // no such table, unknown column
		return NoTable
	case 1044, 1045, 1049, 1142, 1143, 1227, 1698: // access denied in one way or another, unknown database
		return Permanent
	case 1064, 1264, 1300, 1366, 1406: // syntax, out of range, invalid characters, wrong value, too long
		return Permanent
	}
	return Unknown
}
