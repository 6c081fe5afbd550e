//go:build linux

package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	goredis "github.com/redis/go-redis/v9"
)

// poolSize is that of pools of connections. Of PostgreSQL's the store's own listener has one.
const poolSize = 5

// pool is the connections that a candidate's store shares with the rest of its program.
type pool interface {
	// take takes a connection as a program does that keeps it, and returns what gives it back.
	take(ctx context.Context) (back func(), err error)
	close()
}

const (
	// takeWithin bounds how long it is tried to take connections.
	takeWithin = 2 * time.Second
	// missedWithin is how long a store waits for one, to see that it gets none.
	missedWithin = 300 * time.Millisecond
)

// exhaust takes all connections of the pool, and returns what gives them back, and what the store says without. It
// fails if the store has one in spite of that.
func (o *Opened) exhaust() (back func(), effect string, err error) {
	if o.pool == nil {
		return nil, "", errors.New("there is no pool")
	}
	back, n := takeAll(o.pool)
	ctx, cancel := context.WithTimeout(context.Background(), missedWithin)
	defer cancel()
	_, missed := o.Load(ctx, "nobody's")
	if missed == nil {
		back()
		return nil, "", fmt.Errorf("the store answers although %d connections are taken", n)
	}
	return back, fmt.Sprintf("%d connections of its pool, whose store says: %v", n, missed), nil
}

// takeAll takes as many connections as it gets.
func takeAll(p pool) (back func(), n int) {
	ctx, cancel := context.WithTimeout(context.Background(), takeWithin)
	defer cancel()
	var taken []func()
	for len(taken) < poolSize {
		one, err := p.take(ctx)
		if err != nil {
			break
		}
		taken = append(taken, one)
	}
	return func() {
		for _, one := range taken {
			one()
		}
	}, len(taken)
}

// postgresPool is one of pgx.
type postgresPool struct{ *pgxpool.Pool }

func (p postgresPool) take(ctx context.Context) (func(), error) {
	conn, err := p.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Release, nil
}

func (p postgresPool) close() { p.Close() }

// sqlPool is one of database/sql.
type sqlPool struct{ *sql.DB }

func (p sqlPool) take(ctx context.Context) (func(), error) {
	conn, err := p.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return func() { _ = conn.Close() }, nil
}

func (p sqlPool) close() { _ = p.Close() }

// redisPool is one of go-redis. What is subscribed to has connections beside it.
type redisPool struct{ *goredis.Client }

func (p redisPool) take(ctx context.Context) (func(), error) {
	conn := p.Conn()
	if err := conn.Ping(ctx).Err(); err != nil { // it has no connection before it needs one
		_ = conn.Close()
		return nil, err
	}
	return func() { _ = conn.Close() }, nil
}

func (p redisPool) close() { _ = p.Close() }
