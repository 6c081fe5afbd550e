package testserver

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
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
