package redis

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// at returns how candidates open stores at an address, each with a client of its own.
func at(t *testing.T, addr string) scenario.Open {
	return func() tenure.Store { return newStore(t, newClient(t, addr)) }
}

func TestServerFrozenForAWhile(t *testing.T) {
	server := testserver.StartRedis(t)
	scenario.TermOutlives(t, at(t, server.Addr), scenario.Pause(server.Process))
}

func TestFrozenServer(t *testing.T) {
	t.Parallel()
	server := testserver.StartRedis(t)
	scenario.Outages(t, at(t, server.Addr), scenario.Freeze(server.Process))
}

func TestLeaderOutlivesCuts(t *testing.T) {
	proxy := tcpproxy.Start(t, testserver.StartRedis(t).Addr)
	scenario.TermOutlives(t, at(t, proxy.Addr()), scenario.Times(3, proxy.Cut)...)
}

// A candidate that loses replies goes on leading: it finds out what became of its writes.
func TestLeaderOutlivesLostReplies(t *testing.T) {
	proxy := tcpproxy.Start(t, testserver.StartRedis(t).Addr)
	lose := func() { <-proxy.LoseReply(isSwap(`"leader":"node-`)) }
	scenario.TermOutlives(t, at(t, proxy.Addr()), scenario.Times(3, lose)...)
}

func TestPartitionedLeader(t *testing.T) {
	t.Parallel()
	for name, cutOff := range scenario.CutOffs() {
		t.Run(name, func(t *testing.T) {
			open := func(addr string) tenure.Store { return newStore(t, newClient(t, addr)) }
			scenario.LeaderIsCutOff(t, testserver.StartRedis(t).Addr, open, cutOff)
		})
	}
}

func TestHandOver(t *testing.T) { scenario.HandOver(t, at(t, testserver.StartRedis(t).Addr)) }

// awaitRenewal waits until the leader of a fleet has renewed.
func awaitRenewal(t testing.TB, s *Store) {
	t.Helper()
	renewals := func() uint64 { return storetest.Load(t, s, fleet.Election).Record.Renewals }
	before := renewals()
	storetest.Eventually(t, "the leader renews", func() bool { return renewals() > before })
}

// A server that comes back without its data has lost the record and the token. Candidates that saw them say so, wait,
// and go on above; nobody leads beside the leader of before.
func TestRestartWithoutDataIsSeen(t *testing.T) {
	t.Parallel()
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	for token := range uint64(5) { // a past
		storetest.Swap(t, s, fleet.Election, storetest.Load(t, s, fleet.Election).Version, tenure.Record{Token: token})
	}
	lost := observeLoss(t, s, fleet.Election)
	f := fleet.New(t)
	// Until the server is gone the first term has to go on, however slow the machine is, and then to end.
	lease := []tenure.Option{tenure.WithTTL(2 * fleet.TTL), tenure.WithRenewInterval(time.Second)}
	f.Stand(storeAt(t, server), "one", lease...)
	first := f.Next()
	f.Stand(storeAt(t, server), "two", lease...)
	f.Known(first)
	awaitRenewal(t, s)
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
