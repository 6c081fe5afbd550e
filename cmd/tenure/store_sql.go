package main

import (
	"context"

	"github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite" // for sqlite:

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/sqlstore"
)

// mysqlScheme is a table of a MySQL or MariaDB database, sqliteScheme one of a file for the processes of one host.
var (
	mysqlScheme = scheme{
		names: []string{"mysql", "mariadb"}, form: "mysql://host/database", open: openSQL, schema: sqlstore.MigrationOf,
	}
	sqliteScheme = scheme{
		names: []string{"sqlite"}, form: "sqlite:///path", open: openSQL, schema: sqlstore.MigrationOf,
	}
)

func openSQL(ctx context.Context, address string, how opening) (tenure.Store, func() error, error) {
	if err := mysql.SetLogger(silence{}); err != nil { // what it would print comes back as errors, too
		return nil, nil, err
	}
	var options []sqlstore.Option
	if how == existing {
		options = append(options, sqlstore.WithExistingTables())
	}
	return opened(sqlstore.Open(ctx, address, options...))
}
