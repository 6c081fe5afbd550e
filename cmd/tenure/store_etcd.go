package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/etcd"
)

// etcdScheme is the keys below a prefix of etcd.
var etcdScheme = scheme{names: []string{"etcd", "etcds"}, form: "etcd://host,host/prefix", open: openEtcd}

func openEtcd(ctx context.Context, address string, _ opening) (tenure.Store, func() error, error) {
	return opened(etcd.Open(ctx, address))
}
