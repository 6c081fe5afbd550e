package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	_ "github.com/go-sql-driver/mysql" // for mysql: and mariadb:
	_ "modernc.org/sqlite"             // for sqlite:

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

// store is what all stores have in common.
type store interface {
	tenure.Store
	io.Closer
}

// open opens the store that a URL names. Your program needs one line of it: that of your store.
func open(ctx context.Context, address string) (store, error) {
	scheme, _, _ := strings.Cut(address, ":")
	switch scheme {
	case "file":
		return openFile(address)
	case "postgres", "postgresql":
		return postgres.Open(ctx, address)
	case "mysql", "mariadb", "sqlite":
		return sqlstore.Open(ctx, address)
	case "nats", "tls":
		return natskv.Open(ctx, address)
	case "etcd", "etcds":
		return etcd.Open(ctx, address)
	case "redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster":
		return redis.Open(ctx, address)
	case "memcached":
		return memcached.Open(ctx, address)
	case "s3":
		return s3.Open(ctx, address)
	case "azblob":
		return azblob.Open(ctx, address)
	}
	// Not the whole URL: it may hold a password.
	return nil, fmt.Errorf("no store has the scheme %q; try file:///some/directory or postgres://host/database", scheme)
}

// openFile takes the URL apart, because the file store takes a directory.
func openFile(address string) (store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if u.Opaque != "" { // file:relative/path
		return file.Open(u.Opaque)
	}
	return file.Open(u.Path)
}
