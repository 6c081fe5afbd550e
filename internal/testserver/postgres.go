package testserver

import (
	"context"
	"fmt"
	"os"
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
	return StartStandby(tb, p.Addr, name, settings...)
}

// StartStandby is [Postgres.StartReplica] of a server that is reached at addr, through a proxy for instance.
func StartStandby(tb TB, addr, name string, settings ...string) *Postgres {
	tb.Helper()
	programs := filepath.Dir(Find(tb, "postgres"))
	data := filepath.Join(Dir(tb), "data")
	baseBackup(tb, programs, data, addr, name)
	return startPostgres(tb, programs, data, nil, settings)
}

// Follow makes a server that has ended a standby of the one at addr, under a name: it throws away all that the server
// had, and takes a copy. The server is to be started then.
func (p *Postgres) Follow(tb TB, addr, name string) {
	tb.Helper()
	if p.PID() != 0 {
		tb.Fatalf("%s still runs, and cannot be made a standby", p.Addr)
	}
	if err := os.RemoveAll(p.data); err != nil {
		tb.Fatalf("remove the data of a server that is to be a standby: %v", err)
	}
	baseBackup(tb, p.programs, p.data, addr, name)
}

// baseBackup makes the data directory of a standby.
func baseBackup(tb TB, programs, data, addr, name string) {
	tb.Helper()
	Run(tb, Command{
		Program: filepath.Join(programs, "pg_basebackup"), Unprivileged: true,
		Args: []string{
			"-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync",
			"-d", PostgresURL(addr) + "&application_name=" + name,
		},
	})
}

// Promote makes a standby a primary, and returns once it is one.
func (p *Postgres) Promote(tb TB) {
	tb.Helper()
	Run(tb, Command{
		Program: filepath.Join(p.programs, "pg_ctl"), Args: []string{"promote", "-w", "-D", p.data}, Unprivileged: true,
	})
}
