package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [tenure.Guarantor]. It asks the master, in a Cluster every master, for what decides: eviction,
// replication, persistence. Where CONFIG GET is not permitted, the worst is assumed of what only that can tell.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if s.closed.Load() {
		return tenure.Guarantee{}, fmt.Errorf("redis: guarantee: %w", errClosed)
	}
	facts, err := call(ctx, false, func() ([]facts, error) { return s.probe(ctx) })
	if err != nil {
		return tenure.Guarantee{}, fmt.Errorf("redis: guarantee: %w", failed(err))
	}
	weakest := facts[0].guarantee(s.config.replicas)
	for _, f := range facts[1:] {
		if g := f.guarantee(s.config.replicas); g.Grade < weakest.Grade {
			weakest = g
		}
	}
	return weakest, nil
}

func (s *Store) probe(ctx context.Context) ([]facts, error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		f, err := ask(ctx, s.client)
		f.sentinel = bySentinel(s.client)
		return []facts{f}, err
	}
	var mu sync.Mutex
	var all []facts
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		f, err := ask(ctx, master)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("the Cluster has no masters")
	}
	return all, err
}

// facts are what a server says of itself.
type facts struct {
	info     map[string]string
	config   map[string]string // nil if it is not permitted to ask
	sentinel bool              // the client follows fail-overs
}

// bySentinel reports whether the client was made by redis.NewFailoverClient, which gives it no address of a server.
func bySentinel(client redis.UniversalClient) bool {
	c, ok := client.(*redis.Client)
	return ok && c.Options().Addr == "FailoverClient"
}

func ask(ctx context.Context, server redis.Cmdable) (facts, error) {
	text, err := server.Info(ctx).Result()
	if err != nil {
		return facts{}, err
	}
	f := facts{info: map[string]string{}}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			f.info[name] = value
		}
	}
	f.config, err = server.ConfigGet(ctx, "*append*fsync*").Result()
	if err != nil {
		f.config = nil // servers that others run rarely permit it
	}
	return f, nil
}

// guarantee goes from the worst to the best.
func (f facts) guarantee(replicas int) tenure.Guarantee {
	g := tenure.Guarantee{Grade: tenure.GradeExclusive}
	for _, limit := range []func() (tenure.Grade, string){
		f.replica, f.eviction, func() (tenure.Grade, string) { return f.replication(replicas) }, f.persistence,
	} {
		if grade, reason := limit(); reason != "" {
			g.Grade = min(g.Grade, grade)
			g.Reasons = append(g.Reasons, reason)
		}
	}
	if len(g.Reasons) == 0 {
		g.Reasons = append(g.Reasons, "one server without replicas, whose append-only file is synced before a write is "+
			"acknowledged (appendfsync always), and which evicts nothing")
	}
	return g
}

func (f facts) replica() (tenure.Grade, string) {
	if f.info["role"] == "slave" {
		return tenure.GradeUnknown, "the server is a replica, which takes no writes: connect to its master"
	}
	return tenure.GradeExclusive, ""
}

// eviction reports whether the server may drop a record. Records never expire, so that only the policies for all keys
// concern them, and only where there is a limit.
func (f facts) eviction() (tenure.Grade, string) {
	policy := f.info["maxmemory_policy"]
	switch {
	case !strings.HasPrefix(policy, "allkeys-"):
	case f.info["maxmemory"] == "0":
		return tenure.GradeExclusive, fmt.Sprintf("maxmemory-policy %s evicts records once maxmemory is set", policy)
	default:
		return tenure.GradeBestEffort, fmt.Sprintf("maxmemory-policy %s may evict a record: use noeviction", policy)
	}
	return tenure.GradeExclusive, ""
}

// replication reports whether a replica may take over. One that is away for the moment may come back for it.
func (f facts) replication(wait int) (tenure.Grade, string) {
	var reason string
	switch count := f.info["connected_slaves"]; {
	case count != "0" && count != "":
		reason = count + " replicas follow asynchronously: one that takes over may lack the last writes"
	case f.sentinel:
		reason = "Sentinel may have a replica take over that lacks the last writes; none is connected now"
	case f.info["repl_backlog_active"] == "1":
		reason = "replicas have followed, though none is connected now: one that takes over lacks the last writes"
	default:
		return tenure.GradeExclusive, ""
	}
	if wait > 0 {
		reason += fmt.Sprintf("; every write waits for %d of them, and is safe if one of those takes over", wait)
	}
	return tenure.GradeUntilFailover, reason
}

func (f facts) persistence() (tenure.Grade, string) {
	switch {
	case f.info["aof_enabled"] != "1":
		return tenure.GradeUntilFailover, "the append-only file is off (appendonly no): a restart loses the last " +
			"writes, or all"
	case f.config == nil:
		return tenure.GradeUntilFailover, "CONFIG GET is not permitted, so that nothing is known of appendfsync: " +
			"a loss of power may lose the last writes"
	case f.config["appendfsync"] != "always":
		return tenure.GradeUntilFailover, fmt.Sprintf("appendfsync is %s: a loss of power loses the last writes",
			f.config["appendfsync"])
	case f.config["no-appendfsync-on-rewrite"] == "yes":
		return tenure.GradeUntilFailover, "no-appendfsync-on-rewrite is yes: while the append-only file is rewritten, " +
			"a loss of power loses the last writes"
	}
	return tenure.GradeExclusive, ""
}
