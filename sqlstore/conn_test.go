package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// mortal is a driver whose connections die with the server's restart, and find out only when they are used.
type mortal struct {
	restarts int
	executed int
	deaf     bool // a new connection is of no use either
}

// mortalConn is a connection that was made after so many restarts.
type mortalConn struct {
	server *mortal
	since  int
}

func (m *mortal) Connect(context.Context) (driver.Conn, error) {
	return &mortalConn{m, m.restarts}, nil
}
func (m *mortal) Driver() driver.Driver { return nil }

func (c *mortalConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not prepared") }
func (c *mortalConn) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }
func (c *mortalConn) Close() error                        { return nil }

func (c *mortalConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	if c.server.deaf || c.since < c.server.restarts {
		return nil, driver.ErrBadConn
	}
	c.server.executed++
	return driver.RowsAffected(1), nil
}

// newMortal returns a store whose pool holds eight idle connections.
func newMortal(t *testing.T) (*mortal, *Store) {
	server := &mortal{}
	db := sql.OpenDB(server)
	t.Cleanup(func() { db.Close() })
	db.SetMaxIdleConns(8)
	var conns []*sql.Conn
	for range 8 {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		conn.Close()
	}
	store, err := New(db, SQLite{})
	if err != nil {
		t.Fatal(err)
	}
	return server, store
}

var someRecord = tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: time.Second}

func TestDeadConnectionsAreReplaced(t *testing.T) {
	server, store := newMortal(t)
	server.restarts++
	if _, err := store.CompareAndSwap(t.Context(), "billing", "", someRecord); err != nil {
		t.Errorf("the first call after the restart: %v", err)
	}
	if server.executed != 1 {
		t.Errorf("the statement was executed %d times", server.executed)
	}
}

func TestServerThatTakesNoStatement(t *testing.T) {
	server, store := newMortal(t)
	server.deaf = true
	if _, err := store.CompareAndSwap(t.Context(), "billing", "", someRecord); !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("the error is %v, want ErrNotApplied", err)
	}
}

func TestClosedStore(t *testing.T) {
	_, store := newMortal(t)
	for range 2 {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	_, loading := store.Load(t.Context(), "billing")
	_, swapping := store.CompareAndSwap(t.Context(), "billing", "", someRecord)
	_, listing := store.List(t.Context())
	_, pruning := store.Prune(t.Context(), 0)
	_, asking := store.Guarantee(t.Context())
	for _, err := range []error{loading, swapping, listing, pruning, asking, store.Migrate(t.Context())} {
		if !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("the error is %v, want ErrPermanent", err)
		}
	}
	if err := store.db.PingContext(t.Context()); err != nil {
		t.Errorf("Close closed a database that is the caller's: %v", err)
	}
}
