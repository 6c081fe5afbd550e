package sqlstore_test

import (
	"fmt"
	"strings"

	"github.com/tenure-go/tenure/sqlstore"
)

// An administrator makes the tables, and programs with a user that may not: they call Migrate with
// WithExistingTables, which only checks.
func ExampleMigrationSQL() {
	text, err := sqlstore.MigrationSQL(sqlstore.PostgreSQL{}, sqlstore.WithSchema("ops"), sqlstore.WithTable("leaders"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") { // the columns
			fmt.Print(line)
		}
	}
	// Output:
	// CREATE TABLE IF NOT EXISTS "ops"."leaders" (
	// );
	// CREATE TABLE IF NOT EXISTS "ops"."leaders_meta" (
	// );
	// INSERT INTO "ops"."leaders_meta" (id, layout, token_floor) VALUES (1, 0, 0) ON CONFLICT DO NOTHING;
	// UPDATE "ops"."leaders_meta" SET layout = 1 WHERE id = 1 AND layout < 1;
}
