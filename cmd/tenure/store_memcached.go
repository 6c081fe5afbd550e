package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/memcached"
)

// memcachedScheme is one memcached server or several.
var memcachedScheme = scheme{names: []string{"memcached"}, form: "memcached://host", open: openMemcached}

func openMemcached(ctx context.Context, address string, _ opening) (tenure.Store, func() error, error) {
	return opened(memcached.Open(ctx, address))
}
