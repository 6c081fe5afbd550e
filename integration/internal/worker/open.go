//go:build linux

package worker

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	goredis "github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite" // the driver

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/file"
	"github.com/tenure-go/tenure/sqlstore"
	"github.com/tenure-go/tenure/stores/azblob"
	"github.com/tenure-go/tenure/stores/etcd"
	"github.com/tenure-go/tenure/stores/memcached"
	"github.com/tenure-go/tenure/stores/natskv"
	"github.com/tenure-go/tenure/stores/postgres"
	"github.com/tenure-go/tenure/stores/redis"
	"github.com/tenure-go/tenure/stores/s3"
)

// Store is a store that has to be closed.
type Store interface {
	tenure.Store
	io.Closer
}

// Opened is a store, with its pool of connections if the candidate can exhaust it.
type Opened struct {
	Store

	pool *pgxpool.Pool
}

// Close closes the store, and then the pool under it.
func (o *Opened) Close() error {
	err := o.Store.Close()
	if o.pool != nil {
		o.pool.Close()
	}
	return err
}

// silence is a logger of clients whose errors are returned, too.
type silence struct{}

// Print is that of the MySQL driver.
func (silence) Print(...any) {}

// Printf is that of go-redis.
func (silence) Printf(context.Context, string, ...any) {}

// hush silences clients that print. Their loggers are those of the whole process.
var hush = sync.OnceValue(func() error {
	goredis.SetLogger(silence{})
	return mysql.SetLogger(silence{})
})

// Open opens the store at a URL as the command tenure does.
func Open(ctx context.Context, address string) (*Opened, error) {
	if err := hush(); err != nil {
		return nil, err
	}
	scheme, _, _ := strings.Cut(address, ":")
	if scheme == "postgres" {
		return openPostgres(ctx, address)
	}
	store, err := openOther(ctx, scheme, address)
	if err != nil {
		return nil, err
	}
	return &Opened{Store: store}, nil
}

func openOther(ctx context.Context, scheme, address string) (Store, error) {
	switch scheme {
	case "file":
		u, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		return file.Open(u.Path)
	case "sqlite", "mysql":
		return sqlstore.Open(ctx, address)
	case "nats":
		return natskv.Open(ctx, address)
	case "etcd":
		return etcd.Open(ctx, address)
	case "redis", "redis+sentinel":
		return redis.Open(ctx, address)
	case "s3":
		return s3.Open(ctx, address)
	case "azblob":
		return azblob.Open(ctx, address)
	case "memcached":
		return memcached.Open(ctx, address)
	}
	return nil, fmt.Errorf("there is no store for %s", address)
}

// poolSize is that of pools of connections: the store's own listener has one of them.
const poolSize = 5

// openPostgres makes the pool itself, so that somebody else can take its connections.
func openPostgres(ctx context.Context, address string) (*Opened, error) {
	plain, advisory := strings.CutSuffix(address, "&mode=advisory")
	pool, err := pgxpool.New(ctx, fmt.Sprintf("%s&pool_max_conns=%d", plain, poolSize))
	if err != nil {
		return nil, err
	}
	var store Store
	if advisory {
		store, err = postgres.NewAdvisory(pool)
	} else {
		store, err = postgres.New(pool)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Opened{store, pool}, nil
}

// exhaust takes all connections of the pool, as far as it gets them before ctx ends, and holds them until released is
// closed. It returns how many those are.
func (o *Opened) exhaust(ctx context.Context, released <-chan struct{}) int {
	var taken []*pgxpool.Conn
	for o.pool != nil && len(taken) < poolSize {
		conn, err := o.pool.Acquire(ctx)
		if err != nil {
			break
		}
		taken = append(taken, conn)
	}
	go func() {
		<-released
		for _, conn := range taken {
			conn.Release()
		}
	}()
	return len(taken)
}
