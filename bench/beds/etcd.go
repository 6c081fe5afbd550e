package beds

import (
	"context"
	"errors"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/etcd"
)

// Etcd is a cluster of one etcd, which syncs every write.
func Etcd() bench.Bed {
	return bench.Bed{
		Name: "etcd", About: "one member, every write synced", Start: startEtcd, Open: openEtcd,
		Aim: bench.Aim{Renewal: 1.5, HandOver: 4, Silent: true},
	}
}

func openEtcd(ctx context.Context, address string) (bench.Store, error) {
	return etcd.Open(ctx, address)
}

type etcdServer struct {
	*testserver.Etcd

	client *clientv3.Client
}

func startEtcd(tb testserver.TB) (bench.Server, error) {
	server := testserver.StartEtcd(tb)
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + server.Addr}, DialTimeout: 10 * time.Second, Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = client.Close() })
	return &etcdServer{server, client}, nil
}

func (e *etcdServer) Version() string {
	status, err := e.client.Status(context.Background(), "http://"+e.Addr)
	if err != nil {
		return "etcd"
	}
	return "etcd " + status.Version
}

func (e *etcdServer) Address() string { return "etcd://" + e.Addr }

func (e *etcdServer) Open(ctx context.Context) (bench.Store, error) {
	return openEtcd(ctx, e.Address())
}

// Ping is a read that the member answers by itself.
func (e *etcdServer) Ping(ctx context.Context) error {
	_, err := e.client.Get(ctx, "bare", clientv3.WithSerializable())
	return err
}

func (e *etcdServer) Write(ctx context.Context, value int) error {
	_, err := e.client.Put(ctx, "bare/"+strconv.Itoa(value), string(bareValue))
	return err
}

// Counts implements [bench.Counter]. Requests are messages, those on streams too.
func (e *etcdServer) Counts(ctx context.Context) (bench.Counts, error) {
	metrics, err := e.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	requests, err := metrics.Sum("grpc_server_msg_received_total")
	log, err2 := metrics.Sum("etcd_disk_wal_write_bytes_total")
	return bench.Counts{bench.Requests: requests, bench.WALBytes: log}, errors.Join(err, err2)
}
