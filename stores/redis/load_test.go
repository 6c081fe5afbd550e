package redis

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// While the watch delivers, all that the server gets is the leader's renewals. Nothing else is counted there in more than
// a lease, however many candidates stand by.
func TestFollowersAtRestSendNothing(t *testing.T) {
	t.Parallel()
	const ttl = 6 * time.Second // with renewals so often a machine may stand still for half of it
	server := testserver.StartRedis(t)
	f := fleet.New(t)
	for i := range 10 {
		f.Stand(storeAt(t, server), fmt.Sprint("node-", i), tenure.WithTTL(ttl), tenure.WithRenewInterval(time.Second))
	}
	term := f.Next()
	s := storeAt(t, server)
	storetest.Load(t, s, fleet.Election) // over the connection of the later loads
	f.Known(term)
	f.Renewed(term, 2) // by then everybody watches
	server.MustDo("CONFIG RESETSTAT")
	before := f.Renewals(term)
	time.Sleep(ttl + ttl/2) // that nothing happens takes time to see
	renewals := f.Renewals(term) - before
	calls := server.Calls()
	scripts, writes := calls["evalsha"], calls["hset"]
	if scripts != writes || writes < renewals-1 || writes > renewals+1 { // one may fall between the two counts
		t.Errorf("the server got %d scripts and %d writes, the leader renewed %d times", scripts, writes, renewals)
	}
	for _, name := range []string{"evalsha", "hget", "hset", "time", "publish", "hmget", "config|resetstat", "info"} {
		delete(calls, name) // the renewals and the counting
	}
	if len(calls) > 0 {
		t.Errorf("besides the renewals the server got %v", calls)
	}
	f.Stays(term, 0) // else the machine is too slow for this test
	f.Check()
}

// A subscription on which nothing happens is probed, and only then.
func TestSilentSubscriptionIsProbed(t *testing.T) {
	t.Parallel()
	server := testserver.StartRedis(t)
	s := storeAt(t, server, WithPing(time.Second))
	box := watchInto(t, s, "e")
	box.await(t, "the current state", 0, version(""))
	server.MustDo("CONFIG RESETSTAT")
	storetest.Eventually(t, "two probes", func() bool { return server.Calls()["ping"] >= 2 })
	if calls := server.Calls(); calls["evalsha"]+calls["subscribe"] > 0 {
		t.Errorf("besides the probes the server got %v", calls)
	}
	if last, n := box.last(); n != 1 || last.err != nil {
		t.Errorf("after %d deliveries the last is %+v, want the first alone", n, last)
	}
}

// Five hundred candidates stand when the leader leaves: one bid is accepted, and each of the others is rejected once at
// most, and asks nothing else.
func TestHerd(t *testing.T) {
	const herd = 500
	server := testserver.StartRedis(t)
	client := newClient(t, server.Addr, func(o *redis.Options) { o.PoolSize = 50 })
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var elected atomic.Int64
	var leader atomic.Pointer[tenure.Candidate]
	var members []*tenure.Candidate
	for i := range herd {
		var c *tenure.Candidate
		c, err := tenure.New(newStore(t, client), "e", tenure.WithID(fmt.Sprint("node-", i)), tenure.WithTTL(time.Minute),
			tenure.WithObserver(func(e tenure.Event) {
				if e.Kind == tenure.EventElected {
					leader.Store(c)
					elected.Add(1)
				}
			}))
		must(t, err)
		members = append(members, c)
		must(t, c.Start(ctx))
	}
	defer func() {
		stop()
		for _, c := range members {
			_ = c.Stop(context.Background())
		}
	}()
	settle := func(elections int64) {
		storetest.Eventually(t, "one more leads and all know it", func() bool {
			return elected.Load() >= elections && !slices.ContainsFunc(members, func(c *tenure.Candidate) bool {
				s := c.Status()
				return s.Record.Token < uint64(elections) || s.Record.Vacant() || !s.Watching
			})
		})
		quiet(t, server)
	}
	settle(1)
	for range 3 {
		server.MustDo("CONFIG RESETSTAT")
		before := elected.Load()
		old := leader.Load()
		old.Idle()
		must(t, old.Resign(t.Context()))
		settle(before + 1)
		calls := server.Calls()
		rejected := calls["evalsha"] - calls["hset"]
		t.Logf("one change of leader: %d accepted writes with the release, %d rejected requests", calls["hset"], rejected)
		if calls["hset"] != 2 || rejected > herd-1 || calls["hmget"] > 0 || elected.Load() != before+1 {
			t.Errorf("the server got %v, want two accepted writes, %d rejected requests at most, and no loads", calls, herd-1)
		}
	}
}

// quiet waits until the server gets nothing for a while.
func quiet(t testing.TB, server *testserver.Redis) {
	t.Helper()
	last, since := -1, time.Now()
	storetest.Eventually(t, "the server is at rest", func() bool {
		if n := server.Calls()["evalsha"]; n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > 300*time.Millisecond
	})
}

// A seat that is given back is taken after a few round trips.
func TestHandOverByPush(t *testing.T) {
	server := testserver.StartRedis(t)
	for _, size := range []int{3, 50} {
		trip, handOver := measureHandOver(t, server, size)
		t.Logf("%d candidates: hand-over %v, a round trip %v: %.1f round trips", size, handOver, trip,
			float64(handOver)/float64(trip))
	}
}

// measureHandOver returns the medians of a round trip of the store, and of the time from the release to the start of the
// next leader's work.
func measureHandOver(t *testing.T, server *testserver.Redis, size int) (trip, handOver time.Duration) {
	const rest = 20 * time.Millisecond // as long before a round trip as before a hand-over, so that both begin cold
	s := storeAt(t, server)
	election := fmt.Sprint("hand-over-", size)
	var trips, handOvers []time.Duration
	current := storetest.Swap(t, s, election+"-other", "", leader(1, "one"))
	for range 20 {
		time.Sleep(rest)
		began := time.Now()
		current = storetest.Swap(t, s, election+"-other", current.Version, leader(1, "one"))
		trips = append(trips, time.Since(began))
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	released, begun := make(chan time.Time, 1), make(chan time.Time, 1)
	var leads atomic.Pointer[tenure.Candidate]
	for i := range size {
		var c *tenure.Candidate
		c, err := tenure.New(storeAt(t, server), election, tenure.WithID(fmt.Sprint("node-", i)), tenure.WithTTL(time.Minute))
		must(t, err)
		done := make(chan struct{})
		t.Cleanup(func() { stop(); <-done })
		go func() {
			defer close(done)
			_ = c.Run(ctx, func(ctx context.Context, _ tenure.Term) error {
				now := time.Now()
				leads.Store(c)
				begun <- now
				<-ctx.Done()
				select {
				case released <- time.Now():
				default:
				}
				return nil
			})
		}()
	}
	<-begun
	quiet(t, server)
	for range 20 {
		must(t, leads.Load().Resign(t.Context()))
		handOvers = append(handOvers, (<-begun).Sub(<-released))
		time.Sleep(rest)
	}
	slices.Sort(trips)
	slices.Sort(handOvers)
	return trips[len(trips)/2], handOvers[len(handOvers)/2]
}
