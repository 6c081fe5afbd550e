package redis

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// A server that stands still for less than a lease changes nothing, and one that does for longer ends the term, and no
// candidate leads beside another.
func TestFrozenServer(t *testing.T) {
	server := testserver.StartRedis(t)
	f := fleet.New(t)
	for _, id := range []string{"one", "two", "three"} {
		f.Stand(storeAt(t, server), id, tenure.WithTTL(3*time.Second))
	}
	first := f.Next()
	server.Freeze()
	time.Sleep(time.Second) // a lease that goes on cannot be seen sooner
	server.Thaw()
	server.Await("INFO server", "redis_version")
	awaitRenewals(t, storeAt(t, server), 2)
	f.Stays(first, 0)

	server.Freeze()
	f.Over(first)
	storetest.Eventually(t, "the leader's work is told", func() bool { return len(f.Causes()) > 0 })
	if causes := f.Causes(); len(causes) != 1 || !errors.Is(causes[0], tenure.ErrLeaseExpired) {
		t.Errorf("the causes of ended terms are %v, want one lease that expired", causes)
	}
	server.Thaw()
	f.Next()
	f.Check()
}

// awaitRenewals waits until the leader of a fleet has renewed so often.
func awaitRenewals(t testing.TB, s *Store, n uint64) {
	t.Helper()
	renewals := func() uint64 { return storetest.Load(t, s, fleet.Election).Record.Renewals }
	before := renewals()
	storetest.Eventually(t, "the leader renews", func() bool { return renewals() >= before+n })
}

// Each candidate has connections of its own, and those of the leader are cut, held, and cut again.
func TestPartitionedLeader(t *testing.T) {
	server := testserver.StartRedis(t)
	f := fleet.New(t)
	proxies := map[string]*tcpproxy.Proxy{}
	for _, id := range []string{"one", "two", "three"} {
		proxies[id] = tcpproxy.Start(t, server.Addr)
		f.Stand(newStore(t, newClient(t, proxies[id].Addr())), id)
	}
	first := f.Next()
	for range 3 {
		proxies[first.Leader].Cut()
	}
	awaitRenewals(t, storeAt(t, server), 2)
	f.Stays(first, 0)
	proxies[first.Leader].Hold()
	next := f.Next()
	if next.Leader == first.Leader {
		t.Errorf("%q leads again, cut off", next.Leader)
	}
	proxies[first.Leader].Release()
	proxies[first.Leader].Cut()
	awaitRenewals(t, storeAt(t, server), 2)
	f.Stays(next, 0) // the leader of before must not come back
	f.Check()
}

// A server that comes back without its data has lost the record and the token. Candidates that saw them say so, wait,
// and go on above; nobody leads beside the leader of before.
func TestRestartWithoutDataIsSeen(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	for token := range uint64(5) { // a past
		storetest.Swap(t, s, fleet.Election, storetest.Load(t, s, fleet.Election).Version, tenure.Record{Token: token})
	}
	lost := observeLoss(t, s, fleet.Election)
	f := fleet.New(t)
	f.Stand(storeAt(t, server), "one")
	first := f.Next()
	f.Stand(storeAt(t, server), "two")
	f.Known(first)
	awaitRenewals(t, s, 1)
	server.Kill()
	server.Start()
	select {
	case record := <-lost:
		if record.Token != 0 {
			t.Errorf("the observer is told of %+v, want that nothing is left", record)
		}
	case <-time.After(patience):
		t.Error("the observer was not told of the loss")
	}
	next := f.Next()
	if causes := f.Causes(); len(causes) != 1 || !errors.Is(causes[0], tenure.ErrDeposed) && !errors.Is(causes[0], tenure.ErrLeaseExpired) {
		t.Errorf("the causes of ended terms are %v, want that the record was gone", causes)
	}
	if first.Token < 5 || next.Token <= first.Token {
		t.Errorf("the token is %d after %d, want it above that, and both above those of before", next.Token, first.Token)
	}
	if got := storetest.Load(t, s, fleet.Election).Record.Token; got != next.Token {
		t.Errorf("the record's token is %d, want %d", got, next.Token)
	}
	f.Check()
}

// observeLoss sends the record as it is when an observer finds it lost.
func observeLoss(t testing.TB, s *Store, election string) <-chan tenure.Record {
	t.Helper()
	lost, first := make(chan tenure.Record, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	var observing sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		observing.Wait()
	})
	observing.Go(func() {
		for change, err := range tenure.Observe(ctx, s, election) {
			switch {
			case err != nil:
			case change.Kind == tenure.ChangeFirst:
				close(first)
			case change.Kind == tenure.ChangeLost && len(lost) == 0:
				lost <- change.Record
			}
		}
	})
	<-first
	return lost
}
