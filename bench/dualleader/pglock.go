package dualleader

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"
	"sync"

	"cirello.io/pglock"
)

// PGLock is a lock in a table, with its defaults. Its processes lead while the function given to Do has not returned;
// its context ends when the library notices a loss.
func PGLock() *Peer {
	return &Peer{
		Name: "pglock", Module: "cirello.io/pglock", Lease: pglock.DefaultLeaseDuration,
		Asked: "the context of `Do`",
		Can:   Freezes,
		Why: "a heartbeat that fails by its deadline is no reason to stop, and each lasts a lease: the context of `Do` " +
			"ends once a later one is refused",
		Serve: func(*Clock) Server { return &pgServer{} },
	}
}

// pgServer is the table of locks, of which there is one, and its sequence.
type pgServer struct {
	mu       sync.Mutex
	exists   bool
	row      pgRow
	sequence int64
}

type pgRow struct {
	version any // nil once released and kept
	data    []byte
	owner   string
}

func (s *pgServer) Delete() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exists = false
}

// Backup keeps the row. A restored sequence goes on where it stood, as that of a server does that kept running.
func (s *pgServer) Backup() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	exists, row := s.exists, s.row
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.exists, s.row = exists, row
	}
}

func (s *pgServer) Close() {}

func (s *pgServer) Start(n *Node) Process {
	db := sql.OpenDB(pgConnector{s, n.Link})
	client, err := pglock.UnsafeNew(db, pglock.WithLeaseDuration(n.Lease), pglock.WithHeartbeatFrequency(n.Lease/4),
		pglock.WithOwner(n.Identity))
	if err != nil {
		panic(err)
	}
	p := again(n, func(ctx context.Context) {
		err := client.Do(ctx, election, func(ctx context.Context, _ *pglock.Lock) error {
			n.Work(ctx)
			return nil
		})
		if err != nil {
			pause(ctx, n.Lease/20) // the server is away: the library gives up at once
		}
	})
	return pgProcess{p, db}
}

type pgProcess struct {
	Process
	db *sql.DB
}

func (p pgProcess) Stop() {
	p.Process.Stop()
	_ = p.db.Close()
}

// What follows is a driver for database/sql that knows the statements of the library.

type pgConnector struct {
	server *pgServer
	link   *Link
}

func (c pgConnector) Connect(context.Context) (driver.Conn, error) { return pgConn(c), nil }
func (c pgConnector) Driver() driver.Driver                        { return pgDriver{} }

type pgDriver struct{}

func (pgDriver) Open(string) (driver.Conn, error) { panic("connections come from the connector") }

type pgConn pgConnector

func (pgConn) Prepare(string) (driver.Stmt, error) { panic("the library prepares nothing") }
func (pgConn) Begin() (driver.Tx, error)           { panic("the library begins no transaction") }
func (pgConn) Close() error                        { return nil }

func (c pgConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	var rows *pgRows
	err := c.link.Call(ctx, 0, func() (wrote bool) {
		rows, wrote = c.server.query(query, args)
		return wrote
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (c pgConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	var affected driver.RowsAffected
	err := c.link.Call(ctx, 0, func() bool {
		affected = c.server.exec(query, args)
		return affected > 0
	})
	if err != nil {
		return nil, err
	}
	return affected, nil
}

func (s *pgServer) query(query string, args []driver.NamedValue) (rows *pgRows, wrote bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.Contains(query, "nextval"):
		s.sequence++
		return &pgRows{values: []driver.Value{s.sequence}}, false
	case strings.Contains(query, "INSERT INTO"):
		wrote = s.acquire(args)
		return &pgRows{values: []driver.Value{s.row.version, s.row.data, s.row.owner}}, wrote
	}
	panic("the library is not known to ask " + query)
}

// acquire is the statement that inserts the row, or takes it over if it still has the version that was seen last.
func (s *pgServer) acquire(args []driver.NamedValue) bool {
	version, data, seen, owner := args[1].Value, args[2].Value, args[3].Value, args[5].Value
	if s.exists && s.row.version != nil && s.row.version != seen {
		return false
	}
	if !s.exists {
		s.row.data, _ = data.([]byte)
	}
	s.exists, s.row.version, s.row.owner = true, version, fmt.Sprint(owner)
	return true
}

func (s *pgServer) exec(query string, args []driver.NamedValue) driver.RowsAffected {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.exists || s.row.version != args[1].Value {
		return 0
	}
	switch {
	case strings.Contains(query, "DELETE"):
		s.exists = false
	case strings.Contains(query, "= NULL"):
		s.row.version = nil
	default:
		s.row.version = args[2].Value
	}
	return 1
}

// pgRows is a result of one row.
type pgRows struct {
	values []driver.Value
	read   bool
}

func (r *pgRows) Columns() []string { return make([]string, len(r.values)) }
func (r *pgRows) Close() error      { return nil }

func (r *pgRows) Next(dest []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	copy(dest, r.values)
	return nil
}
