package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

// patience bounds the wait for what ought to happen soon, on a machine that is busy.
const patience = 30 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newClient(t testing.TB, addr string, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	o := &redis.Options{Addr: addr, ContextTimeoutEnabled: true, PoolSize: 32}
	for _, c := range change {
		c(o)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	return client
}

func newStore(t testing.TB, client redis.UniversalClient, options ...Option) *Store {
	t.Helper()
	s, err := New(client, options...)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// storeAt returns a store with a client of its own.
func storeAt(t testing.TB, server *testserver.Redis, options ...Option) *Store {
	t.Helper()
	return newStore(t, newClient(t, server.Addr), options...)
}

func leader(token uint64, session string) tenure.Record {
	return tenure.Record{Token: token, Leader: "node-" + session, Session: session, TTL: 10 * time.Second, Renewals: 1}
}

// inbox keeps what a watch delivers.
type inbox struct {
	mu        sync.Mutex
	delivered []delivery
	news      chan struct{}
}

type delivery struct {
	snapshot tenure.Snapshot
	err      error
}

func watchInto(t testing.TB, s *Store, election string) *inbox {
	t.Helper()
	b := &inbox{news: make(chan struct{}, 1)}
	stop, err := s.Watch(context.Background(), election, b.deliver)
	must(t, err)
	t.Cleanup(stop)
	return b
}

func (b *inbox) deliver(s tenure.Snapshot, err error) {
	b.mu.Lock()
	b.delivered = append(b.delivered, delivery{s, err})
	b.mu.Unlock()
	select {
	case b.news <- struct{}{}:
	default:
	}
}

func (b *inbox) last() (delivery, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.delivered) == 0 {
		return delivery{err: errors.New("nothing was delivered")}, 0
	}
	return b.delivered[len(b.delivered)-1], len(b.delivered)
}

// await waits for a delivery among those after the first skip ones, and returns how many there are up to it.
func (b *inbox) await(t testing.TB, what string, skip int, wanted func(delivery) bool) int {
	t.Helper()
	timeout := time.After(patience)
	for {
		b.mu.Lock()
		for i := skip; i < len(b.delivered); i++ {
			if wanted(b.delivered[i]) {
				b.mu.Unlock()
				return i + 1
			}
		}
		b.mu.Unlock()
		select {
		case <-b.news:
		case <-timeout:
			last, n := b.last()
			t.Fatalf("the watch did not deliver %s; of %d deliveries the last is %+v", what, n, last)
		}
	}
}

func version(v tenure.Version) func(delivery) bool {
	return func(d delivery) bool { return d.err == nil && d.snapshot.Version == v }
}

func interrupted(d delivery) bool { return d.err != nil }

func unknown(err error) bool {
	return err != nil && !errors.Is(err, tenure.ErrConflict) && !errors.Is(err, tenure.ErrNotApplied) &&
		!errors.Is(err, tenure.ErrPermanent)
}

func isFor(err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("the error is %w, want %w", err, want)
	}
	return nil
}

func newClusterClient(t testing.TB, nodes []*testserver.Redis) *redis.ClusterClient {
	t.Helper()
	var addrs []string
	for _, n := range nodes {
		addrs = append(addrs, n.Addr)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ContextTimeoutEnabled: true})
	t.Cleanup(func() { client.Close() })
	return client
}
