package contenders

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"cirello.io/pglock"

	"github.com/tenure-go/tenure/bench/peers"
)

// PGLock is a lock in a table of PostgreSQL.
func PGLock() peers.Peer {
	return peers.Peer{
		Name: "pglock", Module: "cirello.io/pglock", Arena: postgresArena(), Lease: pglock.DefaultLeaseDuration, Most: 500,
		About: "`AcquireContext` and `Close`; heartbeat every quarter of the lease, as at its defaults",
		Poll:  1, Open: openPGLock,
	}
}

func openPGLock(ctx context.Context, address string) (peers.Node, error) {
	db, err := sql.Open("postgres", address) // the driver comes with pglock, which wants no other
	if err != nil {
		return nil, err
	}
	client, err := pglock.New(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for range 5 { // to create it at once with another process is an error
		if err = client.TryCreateTable(); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &pglockNode{db}, nil
}

type pglockNode struct{ db *sql.DB }

func (n *pglockNode) Contend(election, id string, lease time.Duration) (peers.Contender, error) {
	client, err := pglock.New(n.db, pglock.WithLeaseDuration(lease), pglock.WithHeartbeatFrequency(lease/4),
		pglock.WithOwner(id))
	if err != nil {
		return nil, err
	}
	return &pglockContender{client: client, name: election}, nil
}

func (n *pglockNode) Close() error { return n.db.Close() }

type pglockContender struct {
	client *pglock.Client
	name   string
	lock   *pglock.Lock
}

func (c *pglockContender) Lead(ctx context.Context) error {
	base, stop := detached(ctx)
	lock, err := c.client.AcquireContext(base, c.name)
	if err != nil {
		stop()
		return err
	}
	c.lock = lock
	if !stop() {
		return errors.Join(ctx.Err(), c.Close())
	}
	return nil
}

func (c *pglockContender) Release(context.Context) error {
	lock := c.lock
	c.lock = nil
	return lock.Close()
}

func (c *pglockContender) Close() error {
	if c.lock == nil {
		return nil
	}
	return c.Release(context.Background())
}
