package contenders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/beds"
	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/internal/testserver"
)

// counting is a server of the benchmark of our own stores with other counts: those are for one user of the server, whom
// the name of a connection or what scripts do tells apart.
type counting struct {
	bench.Server

	counts func(context.Context) (bench.Counts, error)
}

// Counts implements [bench.Counter].
func (c *counting) Counts(ctx context.Context) (bench.Counts, error) { return c.counts(ctx) }

// Listen implements [bench.Listener].
func (c *counting) Listen(ctx context.Context) (stop func() error, err error) {
	if listener, ok := c.Server.(bench.Listener); ok {
		return listener.Listen(ctx)
	}
	return func() error { return nil }, nil
}

func redisArena() peers.Arena {
	return peers.Arena{Name: "Redis", Start: func(tb testserver.TB) (peers.Server, error) {
		server, err := beds.Redis().Start(tb)
		if err != nil {
			return nil, err
		}
		return &counting{server, func(ctx context.Context) (bench.Counts, error) { return redisCounts(ctx, server) }}, nil
	}}
}

// redisCounts are what clients sent, and how many changes were made to the data.
func redisCounts(ctx context.Context, server bench.Server) (bench.Counts, error) {
	counts, err := server.(bench.Counter).Counts(ctx)
	if err != nil {
		return nil, err
	}
	asked, ok := server.(interface {
		Do(command string) (string, error)
	})
	if !ok {
		return nil, errors.New("this Redis cannot be asked")
	}
	info, err := asked.Do("INFO persistence")
	if err != nil {
		return nil, err
	}
	var changes float64
	_, rest, _ := strings.Cut(info, "rdb_changes_since_last_save:")
	if _, err := fmt.Sscanf(rest, "%f", &changes); err != nil {
		return nil, fmt.Errorf("Redis does not say what has changed: %w", err)
	}
	return bench.Counts{bench.Requests: counts[bench.Requests], peers.Writes: changes}, nil
}

func natsArena() peers.Arena {
	return peers.Arena{Name: "NATS", Start: func(tb testserver.TB) (peers.Server, error) {
		server, err := beds.NATS().Start(tb)
		if err != nil {
			return nil, err
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(server.Address(), "nats://"), "/")
		conn, err := nats.Connect("nats://"+host, nats.Name(harness))
		if err != nil {
			return nil, err
		}
		tb.Cleanup(conn.Close)
		return &counting{server, func(context.Context) (bench.Counts, error) { return natsCounts(conn, server) }}, nil
	}}
}

// harness is the name of the harness's own connections and users.
const harness = "bench"

// natsCounts are the messages of clients, and those that the streams took.
func natsCounts(conn *nats.Conn, server bench.Server) (bench.Counts, error) {
	asked, ok := server.(interface{ Received(name string) int64 })
	if !ok {
		return nil, errors.New("this NATS server cannot be asked")
	}
	js, err := conn.JetStream()
	if err != nil {
		return nil, err
	}
	var taken uint64
	for stream := range js.Streams() {
		taken += stream.State.LastSeq
	}
	return bench.Counts{
		bench.Requests: float64(asked.Received("") - asked.Received(harness)), peers.Writes: float64(taken),
	}, nil
}

func postgresArena() peers.Arena {
	return peers.Arena{Name: "PostgreSQL", Start: func(tb testserver.TB) (peers.Server, error) {
		server, err := beds.Postgres().Start(tb)
		if err != nil {
			return nil, err
		}
		return &counting{server, func(ctx context.Context) (bench.Counts, error) { return postgresCounts(ctx, server) }}, nil
	}}
}

// Sessions tell of their changes a second after the last time, so that some are told late, at the beginning of what is
// counted as at its end.
const postgresChanges = `SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)
  FROM pg_stat_user_tables WHERE relname <> 'bare'`

// postgresCounts are the statements of all but the harness, and the rows that were changed.
func postgresCounts(ctx context.Context, server bench.Server) (bench.Counts, error) {
	counts, err := server.(bench.Counter).Counts(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, strings.Replace(server.Address(), "postgres@", harness+"@", 1))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	var changes float64
	if err := conn.QueryRow(ctx, postgresChanges).Scan(&changes); err != nil {
		return nil, err
	}
	return bench.Counts{bench.Requests: counts[bench.Requests], peers.Writes: changes}, nil
}

// measuring is a server whose metrics can be read.
type measuring interface {
	Metrics(ctx context.Context) (testserver.Metrics, error)
}

func etcdArena() peers.Arena {
	return peers.Arena{Name: "etcd", Start: func(tb testserver.TB) (peers.Server, error) {
		return startCounting(tb, beds.Etcd(), etcdWrites)
	}}
}

func kubernetesArena() peers.Arena {
	return peers.Arena{Name: "Kubernetes", Start: func(tb testserver.TB) (peers.Server, error) {
		return startCounting(tb, beds.Kubernetes(), leaseWrites)
	}}
}

// startCounting starts a server whose requests are those that our own stores' are counted by, and whose writes are read
// from its metrics.
func startCounting(
	tb testserver.TB, bed bench.Bed, writes func(testserver.Metrics) (float64, error),
) (peers.Server, error) {
	server, err := bed.Start(tb)
	if err != nil {
		return nil, err
	}
	return &counting{server, func(ctx context.Context) (bench.Counts, error) {
		counts, err := server.(bench.Counter).Counts(ctx)
		if err != nil {
			return nil, err
		}
		metrics, err := server.(measuring).Metrics(ctx)
		if err != nil {
			return nil, err
		}
		written, err := writes(metrics)
		return bench.Counts{bench.Requests: counts[bench.Requests], peers.Writes: written}, err
	}}, nil
}

// etcdWrites is the revision, which every change of the data raises by one.
func etcdWrites(m testserver.Metrics) (float64, error) {
	return m.Sum("etcd_debugging_mvcc_current_revision")
}

// leaseWrites are the changes of Leases that an API server has accepted.
func leaseWrites(m testserver.Metrics) (float64, error) {
	var all float64
	for _, verb := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		for _, code := range []string{"200", "201"} {
			n, err := m.Sum("apiserver_request_total", `resource="leases"`, `verb="`+verb+`"`, `code="`+code+`"`)
			if err != nil {
				return 0, err
			}
			all += n
		}
	}
	return all, nil
}
