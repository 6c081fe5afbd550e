package beds

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/natskv"
)

var natsAim = bench.Aim{Renewal: 1.5, HandOver: 4, Silent: true}

// NATS is one NATS server that keeps files, and syncs them when it sees fit.
func NATS() bench.Bed {
	return bench.Bed{
		Name: "natskv", About: "one server, files, synced every two minutes", Aim: natsAim, Open: openNATS,
		Start: func(tb testserver.TB) (bench.Server, error) { return useNATS(tb, testserver.StartNATS(tb), 1) },
	}
}

// NATSSynced is one NATS server that syncs every write.
func NATSSynced() bench.Bed {
	return bench.Bed{
		Name: "natskv-sync", About: "one server, files, every write synced", Aim: natsAim, Open: openNATS,
		Start: func(tb testserver.TB) (bench.Server, error) {
			// The last block is the one that counts, whole.
			jetStream := fmt.Sprintf("jetstream {store_dir: %q, max_file_store: 1GB, sync_interval: always}", testserver.Dir(tb))
			return useNATS(tb, testserver.StartNATS(tb, jetStream), 1)
		},
	}
}

// NATSCluster is a cluster of three servers that each keep every record.
func NATSCluster() bench.Bed {
	return bench.Bed{
		Name: "natskv-r3", About: "three servers, three replicas", Aim: natsAim, Open: openNATS,
		Start: func(tb testserver.TB) (bench.Server, error) {
			return useNATS(tb, testserver.StartNATSCluster(tb, 3, nil)[0], 3)
		},
	}
}

func openNATS(ctx context.Context, address string) (bench.Store, error) {
	return natskv.Open(ctx, address)
}

type natsServer struct {
	*testserver.NATS

	replicas int
	conn     *nats.Conn
	bare     jetstream.KeyValue
}

func useNATS(tb testserver.TB, server *testserver.NATS, replicas int) (bench.Server, error) {
	ctx := context.Background()
	conn, err := nats.Connect("nats://" + server.Addr)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	bare, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "bare", Replicas: replicas})
	if err != nil {
		return nil, fmt.Errorf("a bucket for bare values: %w", err)
	}
	return &natsServer{server, replicas, conn, bare}, nil
}

func (n *natsServer) Version() string {
	return fmt.Sprintf("nats-server %s, replicas %d", n.conn.ConnectedServerVersion(), n.replicas)
}

func (n *natsServer) Address() string {
	return fmt.Sprintf("nats://%s/elections?replicas=%d", n.Addr, n.replicas)
}

func (n *natsServer) Open(ctx context.Context) (bench.Store, error) {
	return openNATS(ctx, n.Address())
}

func (n *natsServer) Ping(context.Context) error {
	_, err := n.conn.RTT()
	return err
}

func (n *natsServer) Write(ctx context.Context, value int) error {
	_, err := n.bare.Put(ctx, strconv.Itoa(value), bareValue)
	return err
}

// Counts implements [bench.Counter]. Stores name their connections so, and the harness does not.
func (n *natsServer) Counts(context.Context) (bench.Counts, error) {
	return bench.Counts{bench.Requests: float64(n.Received("tenure"))}, nil
}
