package natskv

import (
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// at returns how candidates open stores at an address, each with a connection of its own; rest is as in [openStore].
func at(t *testing.T, addr, rest string) scenario.Open {
	return func() tenure.Store { return openStore(t, addr, rest) }
}

// around is for candidates that connect to one server each.
func around(t *testing.T, servers []*testserver.NATS, rest string) scenario.Open {
	opened := 0
	return func() tenure.Store {
		opened++
		return openStore(t, servers[opened%len(servers)].Addr, rest)
	}
}

func TestLeaderIsCutOff(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t)
	for name, cutOff := range scenario.CutOffs() {
		t.Run(name, func(t *testing.T) {
			bucket := strings.ReplaceAll(name, " ", "-") + "?heartbeat=200ms"
			open := func(addr string) tenure.Store { return openStore(t, addr, bucket) }
			scenario.LeaderIsCutOff(t, server.Addr, open, cutOff)
		})
	}
}

func TestConnectionsAreCutNowAndThen(t *testing.T) {
	t.Parallel()
	proxy := tcpproxy.Start(t, testserver.StartNATS(t).Addr)
	scenario.TermOutlives(t, at(t, proxy.Addr(), fleetBucket), scenario.Times(5, proxy.Cut)...)
}

func TestServerFrozenForAWhile(t *testing.T) {
	server := testserver.StartNATS(t)
	scenario.TermOutlives(t, at(t, server.Addr, fleetBucket), scenario.Pause(server.Process))
}

func TestServerFrozen(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t)
	scenario.Outages(t, at(t, server.Addr, fleetBucket), scenario.Freeze(server.Process))
}

func TestServerRestarted(t *testing.T) {
	server := testserver.StartNATS(t)
	scenario.TermOutlives(t, at(t, server.Addr, fleetBucket), server.Restart, scenario.Crash(server.Process))
}

// Versions go on above those that are lost, too.
func TestServerForgets(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t)
	observer := openStore(t, server.Addr, fleetBucket)
	var before, after tenure.Version
	for token := range uint64(10) { // so that numbers which began again would be lower
		before = storetest.Swap(t, observer, "other", before, storetest.Held(token+1, "a")).Version
	}
	scenario.Forgets(t, at(t, server.Addr, fleetBucket), func() {
		server.Kill()
		server.Forget()
		server.Start()
		storetest.Eventually(t, "a record can be written", func() bool {
			created, err := observer.CompareAndSwap(t.Context(), "other", "", storetest.Held(11, "a"))
			after = created.Version
			return err == nil
		})
	})
	if len(after) != len(before) || after <= before {
		t.Errorf("version %s follows %s", after, before)
	}
}

// cluster starts three servers and returns them with the place of the one that leads the bucket's stream.
func cluster(t *testing.T, via func(from, to int, addr string) string) (servers []*testserver.NATS, leader int, rest string) {
	t.Helper()
	servers = testserver.StartNATSCluster(t, 3, via)
	rest = "elections?replicas=3&heartbeat=200ms"
	return servers, streamLeader(t, openStore(t, servers[0].Addr, rest), servers), rest
}

func streamLeader(t *testing.T, s *Store, servers []*testserver.NATS) int {
	t.Helper()
	found := -1
	storetest.Eventually(t, "the stream has a leader", func() bool {
		info, err := s.info(t.Context())
		for i, n := range servers {
			if err == nil && info.Cluster != nil && n.Name == info.Cluster.Leader {
				found = i
			}
		}
		return found >= 0
	})
	return found
}

// all returns parameters that name every server, so that a client finds another one than its own.
func all(servers []*testserver.NATS) string {
	var addrs []string
	for _, n := range servers {
		addrs = append(addrs, n.Addr)
	}
	return "&servers=" + strings.Join(addrs, ",")
}

func TestStreamLeaderIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range scenario.Losses() {
		t.Run(name, func(t *testing.T) {
			servers, leader, rest := cluster(t, nil)
			observer := openStore(t, servers[(leader+1)%3].Addr, rest)
			scenario.MemberIsLost(t, around(t, servers, rest+all(servers)), observer, lose(servers[leader].Process))
		})
	}
}

// A server that the others cannot reach, with a leader connected to it, stores nothing: the leader's term ends, and
// another one leads over the majority.
func TestPartition(t *testing.T) {
	t.Parallel()
	var proxies []*tcpproxy.Proxy
	touches := make(map[int][]*tcpproxy.Proxy) // the routes of a server
	servers, _, rest := cluster(t, func(from, to int, addr string) string {
		p := tcpproxy.Start(t, addr)
		proxies = append(proxies, p)
		touches[from], touches[to] = append(touches[from], p), append(touches[to], p)
		return p.Addr()
	})
	f := fleet.New(t)
	defer f.Check()
	var stores []*Store
	for i, server := range servers {
		stores = append(stores, openStore(t, server.Addr, rest))
		f.Stand(stores[i], server.Name)
	}
	first := f.Next()
	alone := slices.IndexFunc(servers, func(n *testserver.NATS) bool { return n.Name == first.Leader })
	for _, p := range touches[alone] {
		p.Hold()
	}
	second := f.Next()
	if second.Leader == first.Leader {
		t.Fatalf("%s leads again, in the minority", first.Leader)
	}
	for _, p := range proxies {
		p.Release()
	}
	storetest.Eventually(t, "the server is back", func() bool {
		got, err := stores[alone].Load(t.Context(), fleet.Election)
		return err == nil && got.Record.Token >= second.Token
	})
}

// The stream's leadership moves in good order, as for maintenance.
func TestStreamLeaderStepsDown(t *testing.T) {
	servers, _, rest := cluster(t, nil)
	s := openStore(t, servers[0].Addr, rest)
	scenario.TermOutlives(t, around(t, servers, rest), scenario.Times(3, func() {
		if _, err := s.conn.Request("$JS.API.STREAM.LEADER.STEPDOWN."+s.stream(), nil, soon); err != nil {
			t.Fatal(err)
		}
	})...)
}

// The watch of every candidate is taken away again and again while they lead and follow.
func TestConsumersAreDeleted(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, fleetBucket)
	allWatch := func() bool { return len(consumers(t, s)) == 3 }
	scenario.TermOutlives(t, at(t, server.Addr, fleetBucket), scenario.Times(3, func() {
		storetest.Eventually(t, "all watch", allWatch)
		for _, name := range consumers(t, s) {
			if err := s.js.DeleteConsumer(t.Context(), s.stream(), name); err != nil &&
				!strings.Contains(err.Error(), jetstream.ErrConsumerNotFound.Error()) {
				t.Fatal(err)
			}
		}
		storetest.Eventually(t, "all watch again", allWatch)
	})...)
}

func TestHandOver(t *testing.T) {
	scenario.HandOver(t, at(t, testserver.StartNATS(t).Addr, "elections"))
}
