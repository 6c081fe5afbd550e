package sqltest

import (
	"testing"

	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/sqlstore"
)

// server is a running database server.
type server struct {
	*testserver.Process
	addr string
	via  func(addr string) database // reached there
}

func (s server) database() database { return s.via(s.addr) }

// proxied returns the same database behind a network that can fail.
func (s server) proxied(tb testing.TB) (database, *tcpproxy.Proxy) {
	tb.Helper()
	proxy := tcpproxy.Start(tb, s.addr)
	return s.via(proxy.Addr()), proxy
}

func startMariaDB(tb testing.TB, args ...string) server {
	tb.Helper()
	m := testserver.StartMariaDB(tb, args...)
	return server{m.Process, m.Addr, func(addr string) database { return mariadb(m, addr) }}
}

func startPostgreSQL(tb testing.TB, settings ...string) server {
	tb.Helper()
	p := testserver.StartPostgres(tb, settings...)
	return server{p.Process, p.Addr, func(addr string) database {
		return database{sqlstore.PostgreSQL{}, "pgx", testserver.PostgresURL(addr)}
	}}
}

// onServers runs a test on each kind of server.
func onServers(t *testing.T, test func(t *testing.T, s server)) {
	t.Run("MariaDB", func(t *testing.T) { test(t, startMariaDB(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, startPostgreSQL(t)) })
}

// onAll runs a test on each kind of database.
func onAll(t *testing.T, test func(t *testing.T, d database)) {
	onServers(t, func(t *testing.T, s server) { test(t, s.database()) })
	t.Run("SQLite", func(t *testing.T) { test(t, sqlite(t)) })
}
