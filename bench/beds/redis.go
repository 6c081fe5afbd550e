package beds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/redis"
)

var redisAim = bench.Aim{Renewal: 1.3, HandOver: 4, Silent: true}

// Redis is a Redis that saves nothing.
func Redis() bench.Bed {
	return bench.Bed{
		Name: "redis", About: "one server that keeps nothing on disk", Aim: redisAim, Open: openRedis,
		Start: func(tb testserver.TB) (bench.Server, error) { return useRedis(tb, testserver.StartRedis(tb)) },
	}
}

// RedisSynced is a Redis that syncs its log at every write.
func RedisSynced() bench.Bed {
	return bench.Bed{
		Name: "redis-aof", About: "one server, appendfsync always", Aim: redisAim, Open: openRedis,
		Start: func(tb testserver.TB) (bench.Server, error) {
			return useRedis(tb, testserver.StartRedis(tb, "--appendonly", "yes", "--appendfsync", "always"))
		},
	}
}

func openRedis(ctx context.Context, address string) (bench.Store, error) {
	return redis.Open(ctx, address)
}

type redisServer struct {
	*testserver.Redis

	client    *goredis.Client
	version   string
	requests  atomic.Int64 // that the monitor has seen
	listening atomic.Bool
	marked    chan struct{} // the monitor has come to the harness's own mark
}

func useRedis(tb testserver.TB, server *testserver.Redis) (bench.Server, error) {
	r := &redisServer{Redis: server, client: goredis.NewClient(&goredis.Options{
		Addr: server.Addr, PoolSize: bench.BareValues, ClientName: "bench",
	}), marked: make(chan struct{}, 1)}
	tb.Cleanup(func() { _ = r.client.Close() })
	info, err := r.client.Info(context.Background(), "server").Result()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(info) {
		if version, ok := strings.CutPrefix(line, "redis_version:"); ok {
			r.version = strings.TrimSpace(version)
		}
	}
	return r, nil
}

func (r *redisServer) Version() string { return "Redis " + r.version }

func (r *redisServer) Address() string { return "redis://" + r.Addr + "/0" }

func (r *redisServer) Open(ctx context.Context) (bench.Store, error) {
	return openRedis(ctx, r.Address())
}

func (r *redisServer) Ping(ctx context.Context) error { return r.client.Ping(ctx).Err() }

func (r *redisServer) Write(ctx context.Context, value int) error {
	return r.client.Set(ctx, fmt.Sprint("bare-", value), bareValue, 0).Err()
}

// Counts implements [bench.Counter], while somebody listens.
func (r *redisServer) Counts(ctx context.Context) (bench.Counts, error) {
	if err := r.catchUp(ctx); err != nil {
		return nil, err
	}
	list, err := r.client.ClientList(ctx).Result()
	if err != nil {
		return nil, err
	}
	connections := 0
	for line := range strings.Lines(list) {
		if !strings.Contains(line, " name=bench ") && !strings.Contains(line, " cmd=monitor ") {
			connections++
		}
	}
	return bench.Counts{
		bench.Requests: float64(r.requests.Load()), bench.Connections: float64(connections),
	}, nil
}

// mark is what the harness sends so that the monitor comes across it.
const mark = "bench-mark"

// catchUp waits until all that the server has had by now is counted.
func (r *redisServer) catchUp(ctx context.Context) error {
	if !r.listening.Load() {
		return nil
	}
	if err := r.client.Echo(ctx, mark).Err(); err != nil {
		return err
	}
	select {
	case <-r.marked:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Second):
		return errors.New("the monitor is silent")
	}
}

// Listen implements [bench.Listener]. The server's own counters hold what scripts do too; only its monitor tells what
// came from clients.
func (r *redisServer) Listen(ctx context.Context) (stop func() error, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.Addr)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewReaderSize(conn, 1<<20)
	if _, err = fmt.Fprint(conn, "MONITOR\r\n"); err == nil {
		_, err = lines.ReadString('\n')
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r.listening.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.monitor(lines)
	}()
	return func() error {
		r.listening.Store(false)
		err := conn.Close()
		<-done
		return err
	}, nil
}

// monitor counts the commands of clients until the connection is closed. Those of scripts come as
// 1700000000.000000 [0 lua] "GET" "key".
func (r *redisServer) monitor(lines *bufio.Reader) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch {
		case strings.Contains(line, mark):
			r.marked <- struct{}{}
		case strings.Contains(line, "] ") && !strings.Contains(line, " lua] "):
			r.requests.Add(1)
		}
	}
}
