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
	Run(tb, Command{Program: mariadbInstaller(tb, program), Unprivileged: true, Args: []string{
		"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db",
		"--tmpdir=" + dir,
	}})
	args = append([]string{
		"--no-defaults", "--datadir=" + data, "--tmpdir=" + dir, "--init-file=" + setUp,
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port), "--socket=" + filepath.Join(dir, "socket"),
		"--pid-file=" + filepath.Join(dir, "pid"), "--skip-name-resolve", "--innodb-buffer-pool-size=16M",
	}, args...)
	process := Start(tb, Command{Program: program, Args: args, Unprivileged: true, Ready: mariadbGreets(Addr(port))})
	return &MariaDB{Process: process, Addr: Addr(port), User: "tenure", Password: "secret", Database: "tenure"}
}

// mariadbInstaller returns the script that makes a data directory; it comes with the server.
func mariadbInstaller(tb TB, program string) string {
	tb.Helper()
	prefix := filepath.Dir(filepath.Dir(program))
	for _, path := range []string{
		filepath.Join(prefix, "bin", "mariadb-install-db"),
		filepath.Join(prefix, "scripts", "mariadb-install-db"),
		filepath.Join(filepath.Dir(program), "mariadb-install-db"),
	} {
		if executable(path) {
			return path
		}
	}
	tb.Fatalf("mariadb-install-db is not beside %s, nor where its package puts it", program)
	return ""
}

// mariadbGreets is a Ready: a server that takes connections speaks first, with version 10 of its protocol. That comes
// after the statements of --init-file have run.
func mariadbGreets(addr string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		defer conn.Close()
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
