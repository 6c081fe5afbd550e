package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [Dialect]: exclusive for a file with synchronous FULL or EXTRA and a journal on the disk. That
// the file is on a local file system it takes for granted.
func (SQLite) Guarantee(ctx context.Context, conn *sql.Conn) (tenure.Guarantee, error) {
	var synchronous int
	var journal string
	if err := conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous); err != nil {
		return tenure.Guarantee{}, err
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return tenure.Guarantee{}, err
	}
	var path sql.NullString
	err := conn.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path)
	if err != nil {
		return tenure.Guarantee{}, err
	}
	j := judge()
	j.limit(path.String == "", tenure.GradeBestEffort,
		"the database has no file: it ends with its connection, and other connections may see another one")
	j.limit(synchronous < 2, tenure.GradeUntilFailover,
		"synchronous is %d: a power cut can take acknowledged writes back; set it to FULL", synchronous)
	volatile := strings.EqualFold(journal, "off") || strings.EqualFold(journal, "memory")
	j.limit(volatile, tenure.GradeUntilFailover,
		"journal_mode is %s: a crash in mid-write can damage the database", journal)
	j.limit(synchronous >= 2, tenure.GradeExclusive,
		"every commit is synced to the disk before it is acknowledged (synchronous %d, journal_mode %s)",
		synchronous, journal)
	j.limit(true, tenure.GradeExclusive, "among the processes of one host: never on a network file system")
	return j.Guarantee, nil
}
