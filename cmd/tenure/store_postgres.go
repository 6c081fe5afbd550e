package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/postgres"
)

// postgresScheme is a table of a PostgreSQL database, with mode=advisory also a session lock.
var postgresScheme = scheme{
	names: []string{"postgres", "postgresql"}, form: "postgres://host/database", open: openPostgres,
}

func openPostgres(ctx context.Context, address string) (tenure.Store, func() error, error) {
	if _, query, _ := strings.Cut(address, "?"); parameter(query, "mode") == "advisory" {
		return opened(postgres.OpenAdvisory(ctx, address))
	}
	return opened(postgres.Open(ctx, address))
}

// parameter returns a parameter of a query that somebody else will check.
func parameter(query, name string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return values.Get(name)
}
