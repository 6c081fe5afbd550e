package main

import (
	"context"

	_ "github.com/go-sql-driver/mysql" // for mysql://
	_ "modernc.org/sqlite"             // for sqlite:

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/sqlstore"
)

// mysqlScheme is a table of a MySQL or MariaDB database, sqliteScheme one of a file for the processes of one host.
var (
	mysqlScheme  = scheme{names: []string{"mysql", "mariadb"}, form: "mysql://host/database", open: openSQL}
	sqliteScheme = scheme{names: []string{"sqlite"}, form: "sqlite:///path", open: openSQL}
)

func openSQL(ctx context.Context, address string) (tenure.Store, func() error, error) {
	return opened(sqlstore.Open(ctx, address))
}
