//go:build linux

package worker

import (
	"context"
	"database/sql"
	"errors"
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
	"github.com/tenure-go/tenure/stores/kubernetes"
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

	pool pool
}

// Close closes the store, and then the pool under it.
func (o *Opened) Close() error {
	err := o.Store.Close()
	if o.pool != nil {
		o.pool.close()
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
	if open := pooled[scheme]; open != nil {
		return open(ctx, address)
	}
	store, err := openOther(ctx, scheme, address)
	if err != nil {
		return nil, err
	}
	return &Opened{Store: store}, nil
}

// pooled are the stores over a pool that is not theirs alone, by the schemes of their URLs.
var pooled = map[string]func(ctx context.Context, address string) (*Opened, error){
	"postgres": openPostgres, "mysql": openMySQL, "sqlite": openSQLite, "redis": openRedis,
	"redis+sentinel": openSentinel,
}

func openOther(ctx context.Context, scheme, address string) (Store, error) {
	switch scheme {
	case "file":
		u, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		return file.Open(u.Path)
	case "nats":
		return natskv.Open(ctx, address)
	case "etcd":
		return etcd.Open(ctx, address)
	case "kubernetes":
		return kubernetes.Open(ctx, address)
	case "s3":
		return s3.Open(ctx, address)
	case "azblob":
		return azblob.Open(ctx, address)
	case "memcached":
		return memcached.Open(ctx, address)
	}
	return nil, fmt.Errorf("there is no store for %s", address)
}

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
	return &Opened{store, postgresPool{pool}}, nil
}

// openMySQL connects as the store at a URL does.
func openMySQL(ctx context.Context, address string) (*Opened, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = u.User.Username(), "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	c.InterpolateParams = true
	return openSQL(ctx, "mysql", c.FormatDSN(), sqlstore.MySQL{})
}

// openSQLite sets what the store at a URL does.
func openSQLite(ctx context.Context, address string) (*Opened, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(250)", "journal_mode(WAL)", "synchronous(FULL)"}}
	return openSQL(ctx, "sqlite", "file:"+u.EscapedPath()+"?"+pragmas.Encode(), sqlstore.SQLite{})
}

func openSQL(ctx context.Context, driver, dsn string, dialect sqlstore.Dialect) (*Opened, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(poolSize)
	store, err := sqlstore.New(db, dialect)
	if err == nil {
		err = store.Migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Opened{store, sqlPool{db}}, nil
}

func openRedis(ctx context.Context, address string) (*Opened, error) {
	options, err := goredis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	options.PoolSize, options.ContextTimeoutEnabled = poolSize, true
	return overRedis(ctx, goredis.NewClient(options))
}

func openSentinel(ctx context.Context, address string) (*Opened, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	password, _ := u.User.Password()
	return overRedis(ctx, goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName: strings.TrimPrefix(u.Path, "/"), SentinelAddrs: []string{u.Host},
		Username: u.User.Username(), Password: password, PoolSize: poolSize, ContextTimeoutEnabled: true,
	}))
}

func overRedis(ctx context.Context, client *goredis.Client) (*Opened, error) {
	store, err := redis.New(client)
	if err == nil {
		err = client.Ping(ctx).Err()
	}
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &Opened{store, redisPool{client}}, nil
}
