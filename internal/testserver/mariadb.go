package testserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// MariaDB is a running MariaDB server with one database and one user, who may do everything.
type MariaDB struct {
	*Process
	// Addr is its host and port.
	Addr string
	// User, Password and Database are those to connect with.
	User, Password, Database string
}

// mariadbSetUp runs at every start of the server.
const mariadbSetUp = `CREATE DATABASE IF NOT EXISTS tenure;
CREATE USER IF NOT EXISTS 'tenure'@'%' IDENTIFIED BY 'secret';
GRANT ALL PRIVILEGES ON *.* TO 'tenure'@'%' WITH GRANT OPTION;
`

// StartMariaDB starts a MariaDB with further arguments, such as --log-bin. What it has acknowledged survives Kill.
func StartMariaDB(tb TB, args ...string) *MariaDB {
	tb.Helper()
	program := Find(tb, "mariadbd")
	dir, port := Dir(tb), Port(tb)
	data, setUp := filepath.Join(dir, "data"), filepath.Join(dir, "setup.sql")
	if err := os.WriteFile(setUp, []byte(mariadbSetUp), 0o644); err != nil {
		tb.Fatalf("write the statements that set MariaDB up: %v", err)
	}
	tables := filepath.Join(dir, "tables.sql")
	if err := os.WriteFile(tables, mariadbTables(tb, program), 0o644); err != nil {
		tb.Fatalf("write the statements that make MariaDB's own tables: %v", err)
	}
	// The script that comes with the server does the same, and needs a program of another package for it.
	const script = `mkdir "$1" && exec "$0" --no-defaults --bootstrap --datadir="$1" --tmpdir="$2" <"$3"`
	Run(tb, Command{
		Program: "/bin/sh", Unprivileged: true, Args: []string{"-c", script, program, data, dir, tables},
	})
	args = append([]string{
		"--no-defaults", "--datadir=" + data, "--tmpdir=" + dir, "--init-file=" + setUp,
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port), "--socket=" + filepath.Join(dir, "socket"),
		"--pid-file=" + filepath.Join(dir, "pid"), "--skip-name-resolve", "--innodb-buffer-pool-size=16M",
	}, args...)
	process := Start(tb, Command{Program: program, Args: args, Unprivileged: true, Ready: mariadbGreets(Addr(port))})
	return &MariaDB{Process: process, Addr: Addr(port), User: "tenure", Password: "secret", Database: "tenure"}
}

// mariadbTables returns the statements that make the server's own tables; they come with it, under names that begin
// with mysql or mariadb.
func mariadbTables(tb TB, program string) []byte {
	tb.Helper()
	all := []byte("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n")
	for _, name := range []string{"system_tables.sql", "performance_tables.sql", "system_tables_data.sql"} {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(program)), "share", "m*", "m*_"+name))
		if err != nil || len(found) == 0 {
			tb.Fatalf("there is no %s in the share directory of %s (%v)", name, program, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			tb.Fatalf("read the statements that make MariaDB's own tables: %v", err)
		}
		all = append(all, text...)
	}
	return all
}

// mariadbGreets is a Ready: a server that takes connections speaks first, with version 10 of its protocol. That comes
// after the statements of --init-file have run.
func mariadbGreets(addr string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		deadline, ok := ctx.Deadline()
		if !ok {
			deadline = time.Now().Add(time.Second)
		}
		greeting := make([]byte, 5)
		if err := conn.SetReadDeadline(deadline); err != nil {
			return err
		}
		if n, err := conn.Read(greeting); err != nil {
			return fmt.Errorf("read the greeting: %w", err)
		} else if n < len(greeting) || greeting[4] != 10 {
			return errors.New("it greets in another protocol")
		}
		return nil
	}
}
