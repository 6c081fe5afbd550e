package testserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Postgres is a running PostgreSQL server with one database, postgres, and one superuser of the same name, who needs
// no password.
type Postgres struct {
	*Process
	// Addr is its host and port.
	Addr string

	programs string // the directory of PostgreSQL's programs
	data     string
}

// StartPostgres starts a new server with further settings, each NAME=VALUE. All others are PostgreSQL's defaults, so
// that commits are synced to the disk.
func StartPostgres(tb TB, settings ...string) *Postgres {
	return StartPostgresEnv(tb, nil, settings...)
}

// StartPostgresEnv is StartPostgres with variables, each NAME=VALUE, added to the server's environment.
func StartPostgresEnv(tb TB, env []string, settings ...string) *Postgres {
	tb.Helper()
	programs := filepath.Dir(Find(tb, "postgres"))
	data := filepath.Join(Dir(tb), "data")
	Run(tb, Command{
		Program: filepath.Join(programs, "initdb"), Unprivileged: true,
		Args: []string{"-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"},
	})
	return startPostgres(tb, programs, data, env, settings)
}

func startPostgres(tb TB, programs, data string, env, settings []string) *Postgres {
	tb.Helper()
	port := Port(tb)
	args := []string{"-D", data, "-p", strconv.Itoa(port), "-h", "127.0.0.1", "-k", ""}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	ready := filepath.Join(programs, "pg_isready")
	process := Start(tb, Command{
		Program: filepath.Join(programs, "postgres"), Args: args, Env: env, Unprivileged: true,
		Quit: syscall.SIGINT, // an orderly end that does not wait for clients
		Ready: func(ctx context.Context) error {
			return exec.CommandContext(ctx, ready, "-q", "-U", "postgres", "-d", "postgres",
				"-h", "127.0.0.1", "-p", strconv.Itoa(port)).Run()
		},
	})
	return &Postgres{Process: process, Addr: Addr(port), programs: programs, data: data}
}

// URL returns the server's connection URL.
func (p *Postgres) URL() string { return PostgresURL(p.Addr) }

// PostgresURL returns the connection URL of a server that is reached at addr, through a proxy for instance, or of
// several, separated by commas.
func PostgresURL(addr string) string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", addr)
}

// StartReplica starts a hot standby that streams from p, with further settings. It calls itself by name, as in p's
// synchronous_standby_names.
func (p *Postgres) StartReplica(tb TB, name string, settings ...string) *Postgres {
	tb.Helper()
	data := filepath.Join(Dir(tb), "data")
	Run(tb, Command{
		Program: filepath.Join(p.programs, "pg_basebackup"), Unprivileged: true,
		Args: []string{
			"-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", p.URL() + "&application_name=" + name,
		},
	})
	return startPostgres(tb, p.programs, data, nil, settings)
}

// Promote makes a standby a primary, and returns once it is one.
func (p *Postgres) Promote(tb TB) {
	tb.Helper()
	Run(tb, Command{
		Program: filepath.Join(p.programs, "pg_ctl"), Args: []string{"promote", "-w", "-D", p.data}, Unprivileged: true,
	})
}

// PgBouncer is a running connection pooler.
type PgBouncer struct {
	*Process
	// Addr is its host and port.
	Addr string
}

// StartPgBouncer starts a pooler in front of a server, in the given mode: session, transaction or statement. Further
// settings are lines of its configuration, NAME = VALUE.
func StartPgBouncer(tb TB, p *Postgres, mode string, settings ...string) *PgBouncer {
	tb.Helper()
	port := Port(tb)
	host, serverPort, _ := strings.Cut(p.Addr, ":")
	config := fmt.Sprintf("[databases]\n* = host=%s port=%s user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"+
		"listen_port = %d\nunix_socket_dir =\nauth_type = any\npool_mode = %s\nmax_client_conn = 200\n%s\n",
		host, serverPort, port, mode, strings.Join(settings, "\n"))
	path := filepath.Join(Dir(tb), "pgbouncer.ini")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		tb.Fatalf("configure pgbouncer: %v", err)
	}
	process := Start(tb, Command{
		Program: Find(tb, "pgbouncer"), Args: []string{path}, Unprivileged: true, Ready: Dial(Addr(port)),
	})
	return &PgBouncer{Process: process, Addr: Addr(port)}
}
