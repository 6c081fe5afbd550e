package etcd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// at returns how candidates open stores at an address, each with a client of its own.
func at(t *testing.T, addr string) scenario.Open {
	return func() tenure.Store { return openStore(t, addr, "") }
}

func TestLeaderIsCutOff(t *testing.T) {
	server := testserver.StartEtcd(t)
	for name, cutOff := range scenario.CutOffs() {
		t.Run(name, func(t *testing.T) {
			prefix := "/" + strings.ReplaceAll(name, " ", "-")
			open := func(addr string) tenure.Store { return openStore(t, addr, prefix) }
			scenario.LeaderIsCutOff(t, server.Addr, open, cutOff)
		})
	}
}

func TestConnectionsAreCutNowAndThen(t *testing.T) {
	proxy := tcpproxy.Start(t, testserver.StartEtcd(t).Addr)
	scenario.TermOutlives(t, at(t, proxy.Addr()), scenario.Times(5, proxy.Cut)...)
}

func TestServerFrozenForAWhile(t *testing.T) {
	server := testserver.StartEtcd(t)
	scenario.TermOutlives(t, at(t, server.Addr), scenario.Pause(server.Process))
}

func TestServerFrozen(t *testing.T) {
	server := testserver.StartEtcd(t)
	scenario.Outages(t, at(t, server.Addr), scenario.Freeze(server.Process))
}

func TestServerRestarted(t *testing.T) {
	server := testserver.StartEtcd(t)
	scenario.TermOutlives(t, at(t, server.Addr), server.Restart, scenario.Crash(server.Process))
}

// Revisions begin again.
func TestServerForgets(t *testing.T) {
	server := testserver.StartEtcd(t)
	scenario.Forgets(t, at(t, server.Addr), func() {
		server.Kill()
		server.Forget()
		server.Start()
	})
}

// leaderOf returns the place of the member that leads the cluster.
func leaderOf(t *testing.T, members []*testserver.Etcd) int {
	t.Helper()
	found := -1
	storetest.Eventually(t, "the cluster has a leader", func() bool {
		for i, m := range members {
			status, err := connect(t, m.Addr).Status(t.Context(), "http://"+m.Addr)
			if err == nil && status.Header.MemberId == status.Leader {
				found = i
			}
		}
		return found >= 0
	})
	return found
}

func TestLeadingMemberIsLost(t *testing.T) {
	for name, lose := range scenario.Losses() {
		t.Run(name, func(t *testing.T) {
			members := testserver.StartEtcdCluster(t, 3)
			leader := leaderOf(t, members)
			observer := openStore(t, members[(leader+1)%3].Addr, "")
			scenario.MemberIsLost(t, at(t, all(members)), observer, lose(members[leader].Process))
		})
	}
}

// The cluster's leadership moves in good order, as for maintenance.
func TestLeadershipOfTheClusterMoves(t *testing.T) {
	members := testserver.StartEtcdCluster(t, 3)
	scenario.TermOutlives(t, at(t, all(members)), scenario.Times(3, func() { moveLeadership(t, members) })...)
}

// moveLeadership gives the leadership of a cluster to another member.
func moveLeadership(t *testing.T, members []*testserver.Etcd) {
	t.Helper()
	leader := leaderOf(t, members)
	client := connect(t, members[leader].Addr)
	list, err := client.MemberList(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list.Members {
		if m.Name == members[(leader+1)%3].Name {
			_, err = client.MoveLeader(t.Context(), m.ID)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A member that knows no leader refuses at once, for certain, what it could not do, and ends the watch.
func TestMemberAlone(t *testing.T) {
	members := testserver.StartEtcdCluster(t, 3)
	s := openStore(t, members[0].Addr, "")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the current state", storetest.At(created.Version))
	members[1].Kill()
	members[2].Kill()
	storetest.Await(t, deliveries, "the interruption", storetest.Failed)
	storetest.Eventually(t, "a write is refused", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "billing", created.Version, storetest.Held(2, "b"))
		return storetest.OutcomeOf(err) == storetest.NotApplied && strings.Contains(err.Error(), "no leader")
	})
	members[1].Start()
	members[2].Start()
	storetest.Await(t, deliveries, "the state again", storetest.At(created.Version))
}

func TestHandOver(t *testing.T) { scenario.HandOver(t, at(t, testserver.StartEtcd(t).Addr)) }

// A server that is restored from a backup has lost what was written since, and gives its revisions out again. The
// candidates that saw what was lost go on above its token, once its lease has run out, and the watches are restored.
func TestBackupIsRestored(t *testing.T) {
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	for i := range 4 {
		f.Stand(openStore(t, server.Addr, ""), fmt.Sprint("node-", i))
	}
	first := f.Next()
	f.Known(first)
	server.Kill()
	restore := server.Backup()
	server.Start()
	latest := first
	for range 2 {
		f.Stop(latest)
		latest = f.Next()
		f.Known(latest)
	}
	observer := openStore(t, server.Addr, "")
	before := storetest.Load(t, observer, fleet.Election)
	server.Kill()
	restore()
	server.Start()
	after := storetest.Load(t, observer, fleet.Election)
	if after.Record.Token >= before.Record.Token {
		t.Fatalf("nothing was lost: the token is %d after %d", after.Record.Token, before.Record.Token)
	}
	next := f.Next()
	if next.Token <= latest.Token {
		t.Errorf("token %d follows %d", next.Token, latest.Token)
	}
	f.Renewed(next, 3)
}
