package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/postgres"
)

// postgresScheme is a table of a PostgreSQL database.
var postgresScheme = scheme{
	names: []string{"postgres", "postgresql"}, form: "postgres://host/database", open: openPostgres,
}

func openPostgres(ctx context.Context, address string) (tenure.Store, func() error, error) {
	return opened(postgres.Open(ctx, address))
}
