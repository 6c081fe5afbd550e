package beds

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/memcached"
)

// Memcached is memcached, which nothing makes durable and which cannot push.
func Memcached() bench.Bed {
	return bench.Bed{
		Name: "memcached", About: "in the server's memory", Start: startMemcached, Open: openMemcached,
	}
}

func openMemcached(ctx context.Context, address string) (bench.Store, error) {
	return memcached.Open(ctx, address)
}

type memcachedServer struct {
	*testserver.Memcached

	client *memcache.Client
}

func startMemcached(tb testserver.TB) (bench.Server, error) {
	server := testserver.StartMemcached(tb)
	m := &memcachedServer{Memcached: server, client: memcache.New(server.Addr)}
	m.client.MaxIdleConns = bench.BareValues
	tb.Cleanup(func() { _ = m.client.Close() })
	return m, m.client.Ping()
}

func (m *memcachedServer) Version() string {
	text, err := m.ask(context.Background(), "version", "\r\n")
	if err != nil {
		return "memcached"
	}
	return "memcached " + strings.TrimSpace(strings.TrimPrefix(text, "VERSION "))
}

func (m *memcachedServer) Address() string { return "memcached://" + m.Addr }

func (m *memcachedServer) Open(ctx context.Context) (bench.Store, error) {
	return openMemcached(ctx, m.Address())
}

func (m *memcachedServer) Ping(context.Context) error { return m.client.Ping() }

func (m *memcachedServer) Write(_ context.Context, value int) error {
	return m.client.Set(&memcache.Item{Key: fmt.Sprint("bare-", value), Value: bareValue})
}

// Counts implements [bench.Counter].
func (m *memcachedServer) Counts(ctx context.Context) (bench.Counts, error) {
	text, err := m.ask(ctx, "stats", "END\r\n")
	if err != nil {
		return nil, err
	}
	stats := map[string]float64{}
	for line := range strings.Lines(text) {
		var name string
		var value float64
		if n, _ := fmt.Sscanf(line, "STAT %s %f", &name, &value); n == 2 {
			stats[name] = value
		}
	}
	return bench.Counts{
		bench.Requests: stats["cmd_get"] + stats["cmd_set"] + stats["cmd_touch"] + stats["cmd_meta"] +
			stats["delete_hits"] + stats["delete_misses"],
	}, nil
}

// ask sends a command on a connection of its own, and returns what comes until the last line.
func (m *memcachedServer) ask(ctx context.Context, command, last string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", m.Addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return "", err
	}
	var text strings.Builder
	for reader := bufio.NewReader(conn); !strings.HasSuffix(text.String(), last); {
		line, err := reader.ReadString('\n')
		if err != nil {
			return "", err
		}
		text.WriteString(line)
	}
	return text.String(), nil
}
