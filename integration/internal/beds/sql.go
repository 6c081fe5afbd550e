//go:build linux

package beds

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/tenure-go/tenure/internal/testserver"
)

// patience bounds what the harness itself asks of a server.
const patience = 30 * time.Second

// candidateRole is whom the candidates connect as; it can be forbidden everything.
const candidateRole = "candidate"

// MariaDB is a table in MariaDB.
func MariaDB() Bed {
	return Bed{Name: "mariadb", About: "lease table, every commit synced", Start: startMariaDB}
}

func startMariaDB(tb testserver.TB) (*Server, error) {
	m := testserver.StartMariaDB(tb)
	admin, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s", m.User, m.Password, m.Addr, m.Database))
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = admin.Close() })
	statements := func(all ...string) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, s := range all {
			if _, err := admin.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
	err = statements("CREATE USER '"+candidateRole+"'@'%' IDENTIFIED BY 'secret'",
		"GRANT ALL PRIVILEGES ON "+m.Database+".* TO '"+candidateRole+"'@'%'")
	return &Server{
		Version: "MariaDB", Addrs: []string{m.Addr}, Pool: true,
		URL:   one("mysql://" + candidateRole + ":secret@{}/" + m.Database),
		Nodes: []Node{{Name: "mariadb", Process: m.Process}},
		Revoke: func() (func() error, error) {
			restore := func() error { return statements("ALTER USER '" + candidateRole + "'@'%' ACCOUNT UNLOCK") }
			return restore, statements("ALTER USER '"+candidateRole+"'@'%' ACCOUNT LOCK", "KILL USER '"+candidateRole+"'")
		},
	}, err
}
