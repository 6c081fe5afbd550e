package postgres_test

import (
	"fmt"
	"strings"

	"github.com/tenure-go/tenure/stores/postgres"
)

// A team with a migration tool of its own takes the statements from here, or from tenure migrate --print.
func ExampleMigrationSQL() {
	sql, err := postgres.MigrationSQL(postgres.WithSchema("elections"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(sql) {
		if strings.HasPrefix(line, "CREATE ") {
			fmt.Print(line)
		}
	}
	// Output:
	// CREATE SCHEMA IF NOT EXISTS "elections";
	// CREATE TABLE "elections"."tenure_state" (
	// CREATE TABLE "elections"."tenure" (
	// CREATE UNIQUE INDEX "tenure_term" ON "elections"."tenure" (election, token);
	// CREATE VIEW "elections"."tenure_leaders" AS
}
