package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/postgres"
)

// postgresScheme is a table of a PostgreSQL database, with mode=advisory also a session lock.
var postgresScheme = scheme{
	names: []string{"postgres", "postgresql"}, form: "postgres://host/database", open: openPostgres,
	schema: postgres.MigrationOf,
}

func openPostgres(ctx context.Context, address string, how opening) (tenure.Store, func() error, error) {
	var options []postgres.Option
	if how == existing {
		options = append(options, postgres.WithExistingTables())
	}
	mode, err := postgres.Mode(address)
	switch {
	case err != nil:
		return nil, nil, err
	case mode == postgres.ModeAdvisory:
		return opened(postgres.OpenAdvisory(ctx, address, options...))
	}
	return opened(postgres.Open(ctx, address, options...))
}
