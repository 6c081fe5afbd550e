package fence

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure/sqlstore"
)

// migratePause is between two tries of a statement that met another process's.
const migratePause = 20 * time.Millisecond

// MigrationSQL returns the statement that makes the table, to be run by somebody else, such as an administrator or a
// migration tool. It can be repeated.
func (g *Guard) MigrationSQL() string {
	return strings.TrimSpace(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (
  resource %s NOT NULL,
  election %s NOT NULL,
  token bigint NOT NULL,
  advances bigint NOT NULL,
  PRIMARY KEY (resource, election)
) %s`, g.table, g.syntax.KeyType, g.syntax.KeyType, g.syntax.TableOptions)) + ";\n"
}

// Migrate makes the table if it is not there; one that is there is left alone, and needs no right to create tables. It
// may be called by any number of processes at once; what meets another process's attempt is tried again until ctx ends.
func (g *Guard) Migrate(ctx context.Context, db *sql.DB) error {
	for {
		err := g.migrate(ctx, db)
		if err == nil {
			return nil
		}
		outcome := g.dialect.Classify(err)
		if ctx.Err() != nil || outcome != sqlstore.NotApplied && outcome != sqlstore.Conflict {
			return fmt.Errorf("fence: migrating: %w", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(migratePause):
		}
	}
}

func (g *Guard) migrate(ctx context.Context, db *sql.DB) error {
	var rows int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+g.table+" WHERE token < 0").Scan(&rows)
	if g.dialect.Classify(err) != sqlstore.NoTable {
		return err
	}
	_, err = db.ExecContext(ctx, strings.TrimSuffix(g.MigrationSQL(), ";\n"))
	return err
}
