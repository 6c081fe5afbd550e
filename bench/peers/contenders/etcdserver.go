package contenders

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/internal/testserver"
)

// etcdCommand is the first argument with which this program starts itself again to be an etcd server.
const etcdCommand = "etcd"

// serveEtcd is an etcd server of one member until it is killed. Its arguments are a directory and the ports for clients
// and for other members.
func serveEtcd(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("etcd wants a directory and two ports, not %d arguments", len(args))
	}
	config := embed.NewConfig()
	config.Dir, config.LogLevel = args[0], "error"
	client, members := loopback(args[1]), loopback(args[2])
	config.ListenClientUrls, config.AdvertiseClientUrls = client, client
	config.ListenPeerUrls, config.AdvertisePeerUrls = members, members
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Err():
		return err
	}
}

func loopback(port string) []url.URL { return []url.URL{{Scheme: "http", Host: "127.0.0.1:" + port}} }

func etcdArena() peers.Arena {
	return peers.Arena{Name: "etcd", Start: func(tb testserver.TB) (peers.Server, error) { return startEtcd(tb) }}
}

func startEtcd(tb testserver.TB) (*etcdServer, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	port := testserver.Port(tb)
	address := "http://" + testserver.Addr(port)
	testserver.Start(tb, testserver.Command{
		Program: program,
		Args:    []string{etcdCommand, testserver.Dir(tb) + "/data", strconv.Itoa(port), strconv.Itoa(testserver.Port(tb))},
		Ready:   func(ctx context.Context) error { return getOK(ctx, http.DefaultClient, address+"/health") },
	})
	client, err := dialEtcd(address)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = client.Close() })
	return &etcdServer{address: address, client: client}, nil
}

type etcdServer struct {
	address string
	client  *clientv3.Client
}

func (e *etcdServer) Version() string {
	status, err := e.client.Status(context.Background(), e.address)
	if err != nil {
		return "etcd"
	}
	return "etcd " + status.Version
}

func (e *etcdServer) Address() string { return e.address }

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
	requests, err := metric(ctx, http.DefaultClient, e.address+"/metrics", "grpc_server_msg_received_total{")
	return bench.Counts{bench.Requests: requests, peers.Writes: float64(now.Header.Revision)}, err
}

// metric sums the series of a Prometheus exposition that begin so.
func metric(ctx context.Context, client *http.Client, address, prefix string) (sum float64, err error) {
	response, err := get(ctx, client, address)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	found := false
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), prefix) {
			continue
		}
		value, err := strconv.ParseFloat(lines.Text()[strings.LastIndex(lines.Text(), " ")+1:], 64)
		if err != nil {
			return 0, err
		}
		found, sum = true, sum+value
	}
	if !found {
		return 0, errors.Join(fmt.Errorf("%s has no %s", address, prefix), lines.Err())
	}
	return sum, lines.Err()
}

func get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}

// getOK makes a request that has to succeed.
func getOK(ctx context.Context, client *http.Client, address string) error {
	response, err := get(ctx, client, address)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", address, response.Status, text)
	}
	return err
}
