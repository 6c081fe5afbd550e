package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

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
