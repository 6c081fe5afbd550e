package beds

import (
	"context"
	"fmt"
	"net/url"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
)

// MariaDB is a table in MariaDB, by database/sql.
func MariaDB() bench.Bed {
	return bench.Bed{Name: "mariadb", About: "table; every commit synced", Start: startMariaDB, Open: openSQL}
}

type mariaDBServer struct{ sqlServer }

func startMariaDB(tb testserver.TB) (bench.Server, error) {
	server := testserver.StartMariaDB(tb, "--max-connections=600")
	source := fmt.Sprintf("%s:%s@tcp(%s)/%s?interpolateParams=true",
		server.User, server.Password, server.Addr, server.Database)
	bare, err := openBare(tb, "mysql", source, "SELECT concat('MariaDB ', version())")
	if err != nil {
		return nil, err
	}
	bare.SetMaxIdleConns(bench.BareValues)
	address := url.URL{
		Scheme: "mysql", Host: server.Addr, Path: "/" + server.Database,
		User: url.UserPassword(server.User, server.Password),
	}
	return &mariaDBServer{sqlServer{bare, address.String()}}, nil
}

// Counts implements [bench.Counter].
func (m *mariaDBServer) Counts(ctx context.Context) (bench.Counts, error) {
	const value = "(SELECT variable_value FROM information_schema.global_status WHERE variable_name = ?)"
	var requests, connections float64
	// One question, since each is one of those counted.
	err := m.QueryRowContext(ctx, "SELECT "+value+", "+value, "QUESTIONS", "THREADS_CONNECTED").
		Scan(&requests, &connections)
	if err != nil {
		return nil, err
	}
	connections -= float64(m.Stats().OpenConnections) // the harness's own
	return bench.Counts{bench.Requests: requests, bench.Connections: connections}, nil
}
