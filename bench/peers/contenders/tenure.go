package contenders

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/beds"
	"github.com/tenure-go/tenure/bench/peers"
)

// ours is this project's candidate over one of its stores.
func ours(name, about string, arena peers.Arena, bed bench.Bed) peers.Peer {
	return peers.Peer{
		Name: name, Module: "github.com/tenure-go/tenure", About: about, Arena: arena, Ours: true,
		Lease: tenure.DefaultTTL, Most: 500,
		Open: func(ctx context.Context, address string) (peers.Node, error) {
			store, err := bed.Open(ctx, address)
			if err != nil {
				return nil, err
			}
			return &tenureNode{store}, nil
		},
	}
}

// Redis is tenure over Redis.
func Redis() peers.Peer {
	return ours("tenure-redis", "`stores/redis`, `Run` and `Resign`", redisArena(), beds.Redis())
}

// Postgres is tenure over a table in PostgreSQL.
func Postgres() peers.Peer {
	return ours("tenure-postgres", "`stores/postgres`, `Run` and `Resign`", postgresArena(), beds.Postgres())
}

// PostgresAdvisory is tenure over a table in PostgreSQL and a session lock.
func PostgresAdvisory() peers.Peer {
	return ours("tenure-postgres-advisory", "the same with a session lock besides", postgresArena(),
		beds.PostgresAdvisory())
}

// NATS is tenure over a key-value bucket.
func NATS() peers.Peer {
	return ours("tenure-natskv", "`stores/natskv`, `Run` and `Resign`", natsArena(), beds.NATS())
}

// Etcd is tenure over etcd.
func Etcd() peers.Peer {
	return ours("tenure-etcd", "`stores/etcd`, `Run` and `Resign`", etcdArena(), beds.Etcd())
}

// Kubernetes is tenure over Leases of Kubernetes.
func Kubernetes() peers.Peer {
	return ours("tenure-kubernetes", "`stores/kubernetes`, `Run` and `Resign`", kubernetesArena(), beds.Kubernetes())
}

type tenureNode struct{ store bench.Store }

func (n *tenureNode) Contend(election, id string, lease time.Duration) (peers.Contender, error) {
	candidate, err := tenure.New(n.store, election, tenure.WithID(id), tenure.WithTTL(lease))
	if err != nil {
		return nil, err
	}
	return &tenureContender{candidate: candidate, led: make(chan struct{}, 1)}, nil
}

func (n *tenureNode) Close() error { return n.store.Close() }

type tenureContender struct {
	candidate *tenure.Candidate
	led       chan struct{}
	start     sync.Once
	cancel    context.CancelFunc
	running   sync.WaitGroup
}

func (c *tenureContender) Lead(ctx context.Context) error {
	c.start.Do(func() {
		running, cancel := context.WithCancel(context.WithoutCancel(ctx))
		c.cancel = cancel
		c.running.Go(func() { _ = c.candidate.Run(running, c.lead) })
	})
	return await(ctx, c.led)
}

func (c *tenureContender) lead(term context.Context, _ tenure.Term) error {
	c.led <- struct{}{}
	<-term.Done()
	return nil
}

func (c *tenureContender) Release(ctx context.Context) error { return c.candidate.Resign(ctx) }

func (c *tenureContender) Close() error {
	if c.cancel == nil {
		return nil
	}
	c.cancel()
	go func() {
		for range c.led {
			continue // a term that began while nobody asked for it has to end too
		}
	}()
	c.running.Wait()
	close(c.led)
	return nil
}

// await waits for a candidate to lead.
func await(ctx context.Context, led <-chan struct{}) error {
	select {
	case <-led:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errLost says that a lead had ended before it was to be released.
var errLost = errors.New("the lead was lost before it could be released")
