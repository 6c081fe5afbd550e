package contenders

import (
	"context"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/internal/testserver"
)

func needsEtcd() error { return testserver.Missing("etcd") }

func etcdArena() peers.Arena {
	return peers.Arena{Name: "etcd", Start: func(tb testserver.TB) (peers.Server, error) { return startEtcd(tb) }}
}

func startEtcd(tb testserver.TB) (*etcdServer, error) {
	server := testserver.StartEtcd(tb)
	client, err := dialEtcd("http://" + server.Addr)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = client.Close() })
	return &etcdServer{server: server, client: client}, nil
}

type etcdServer struct {
	server *testserver.Etcd
	client *clientv3.Client
}

func (e *etcdServer) Version() string {
	status, err := e.client.Status(context.Background(), e.Address())
	if err != nil {
		return "etcd"
	}
	return "etcd " + status.Version
}

func (e *etcdServer) Address() string { return "http://" + e.server.Addr }

func (e *etcdServer) Ping(ctx context.Context) error {
	_, err := e.client.Get(ctx, "bare", clientv3.WithSerializable())
	return err
}

func (e *etcdServer) Write(ctx context.Context, value int) error {
	_, err := e.client.Put(ctx, "bare/"+strconv.Itoa(value), strings.Repeat("tenure ", 37))
	return err
}

// Counts implements [bench.Counter]: messages that clients sent, those on streams too, and revisions of the store.
func (e *etcdServer) Counts(ctx context.Context) (bench.Counts, error) {
	now, err := e.client.Get(ctx, "bare", clientv3.WithSerializable())
	if err != nil {
		return nil, err
	}
	return bench.Counts{
		bench.Requests: float64(e.server.Received()), peers.Writes: float64(now.Header.Revision),
	}, nil
}
