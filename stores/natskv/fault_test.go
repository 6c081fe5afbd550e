package natskv

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// threeOf has three candidates stand, each with a store and a connection of its own, made by the address of its number.
func threeOf(t *testing.T, f *fleet.Fleet, address func(i int) string, rest string, options ...tenure.Option) []*Store {
	t.Helper()
	var stores []*Store
	for i := range 3 {
		s := openStore(t, address(i), rest)
		stores = append(stores, s)
		f.Stand(s, fmt.Sprint("node-", i), options...)
	}
	return stores
}

// number returns the number of a leader.
func number(t *testing.T, term tenure.Term) (i int) {
	t.Helper()
	if _, err := fmt.Sscanf(term.Leader, "node-%d", &i); err != nil {
		t.Fatal(err)
	}
	return i
}

// A leader that cannot reach the server any more ends its term by its own clock, before another one leads.
func TestLeaderIsCutOff(t *testing.T) {
	server := testserver.StartNATS(t)
	for name, cutOff := range map[string]func(*tcpproxy.Proxy){
		"connection reset":     func(p *tcpproxy.Proxy) { p.Refuse(true); p.Cut() },
		"connection hangs":     func(p *tcpproxy.Proxy) { p.Hold() },
		"replies are lost":     func(p *tcpproxy.Proxy) { p.HoldReplies() },
		"requests do not pass": func(p *tcpproxy.Proxy) { p.HoldRequests() },
	} {
		t.Run(name, func(t *testing.T) {
			f := fleet.New(t)
			defer f.Check()
			proxy, bucket := tcpproxy.Start(t, server.Addr), strings.ReplaceAll(name, " ", "-")+"?heartbeat=200ms"
			f.Stand(openStore(t, proxy.Addr(), bucket), "cut off")
			first := f.Next()
			f.Stand(openStore(t, server.Addr, bucket), "one", fleet.Patient...)
			f.Stand(openStore(t, server.Addr, bucket), "two", fleet.Patient...)
			f.Known(first)
			cutOff(proxy)
			second := f.Next()
			if second.Leader == first.Leader {
				t.Fatalf("%s leads again, cut off", first.Leader)
			}
			proxy.Release()
			proxy.Refuse(false)
			f.Known(second) // by the one that was cut off too
			f.Renewed(second, 10)
		})
	}
}

// A connection that is lost and made anew within the lease changes nothing.
func TestConnectionsAreCutNowAndThen(t *testing.T) {
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	proxy := tcpproxy.Start(t, server.Addr)
	threeOf(t, f, func(int) string { return proxy.Addr() }, fleetBucket, fleet.Patient...)
	term := f.Next()
	for range 5 {
		proxy.Cut()
		f.Renewed(term, 2) // of which one may have been written before
	}
}

// A server that stands still for less than the lease changes nothing.
func TestServerFrozenForAWhile(t *testing.T) {
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, func(int) string { return server.Addr }, fleetBucket, fleet.Patient...)
	first := f.Next()
	f.Known(first)
	server.Freeze()
	f.Stays(first, time.Second)
	server.Thaw()
	f.Renewed(first, 2)
}

// If it does for longer the leader stops in time.
func TestServerFrozen(t *testing.T) {
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	stores := threeOf(t, f, func(int) string { return server.Addr }, fleetBucket)
	first := f.Next()
	server.Freeze()
	f.Over(first)
	server.Thaw()
	storetest.Eventually(t, "another term is renewed", func() bool {
		now, err := stores[0].Load(t.Context(), fleet.Election)
		return err == nil && now.Record.Token > first.Token && now.Record.Renewals >= 3
	})
}

func TestServerRestarted(t *testing.T) {
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, func(int) string { return server.Addr }, fleetBucket, fleet.Patient...)
	first := f.Next()
	server.Restart()
	f.Renewed(first, 2)
	server.Kill()
	server.Start()
	f.Renewed(first, 2)
}

// A server that forgets everything is an emptied store: the record counts as held until its lease has run out, and the
// candidates that remember the token go on above it.
func TestServerForgets(t *testing.T) {
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	stores := threeOf(t, f, func(int) string { return server.Addr }, fleetBucket)
	first := f.Next()
	f.Known(first)
	before := storetest.Load(t, stores[0], fleet.Election).Version
	server.Kill()
	server.Forget()
	server.Start()
	second := f.Next()
	if second.Token <= first.Token {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
	if after := storetest.Load(t, stores[0], fleet.Election).Version; len(after) != len(before) || after <= before {
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

// The server that leads the stream is lost. Somebody leads on over the others, and goes on when it is back.
func TestStreamLeaderIsLost(t *testing.T) {
	for name, lose := range map[string]func(*testserver.NATS) (back func()){
		"stopped": func(n *testserver.NATS) func() { n.Stop(); return n.Start },
		"killed":  func(n *testserver.NATS) func() { n.Kill(); return n.Start },
		"frozen":  func(n *testserver.NATS) func() { n.Freeze(); return n.Thaw },
	} {
		t.Run(name, func(t *testing.T) {
			servers, leader, rest := cluster(t, nil)
			f := fleet.New(t)
			defer f.Check()
			stores := threeOf(t, f, func(i int) string { return servers[i].Addr }, rest+all(servers))
			f.Next()
			watching := stores[(leader+1)%3]
			before := storetest.Load(t, watching, fleet.Election).Version
			back := lose(servers[leader])
			var held tenure.Snapshot
			storetest.Eventually(t, "somebody leads over the other servers", func() bool {
				var err error
				held, err = watching.Load(t.Context(), fleet.Election)
				return err == nil && held.Version != before && !held.Record.Vacant()
			})
			back()
			storetest.Eventually(t, "it goes on after the server is back", func() bool {
				now, err := watching.Load(t.Context(), fleet.Election)
				return err == nil && now.Version != held.Version && !now.Record.Vacant()
			})
		})
	}
}

// A server that the others cannot reach, with a leader connected to it, stores nothing: the leader's term ends, and
// another one leads over the majority.
func TestPartition(t *testing.T) {
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
	stores := threeOf(t, f, func(i int) string { return servers[i].Addr }, rest)
	first := f.Next()
	alone := number(t, first)
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
	f := fleet.New(t)
	defer f.Check()
	stores := threeOf(t, f, func(i int) string { return servers[i].Addr }, rest, fleet.Patient...)
	term := f.Next()
	for range 3 {
		if _, err := stores[0].conn.Request("$JS.API.STREAM.LEADER.STEPDOWN."+stores[0].stream(), nil, soon); err != nil {
			t.Fatal(err)
		}
		f.Renewed(term, 10)
	}
}

// The watch of every candidate is taken away again and again while they lead and follow.
func TestConsumersAreDeleted(t *testing.T) {
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	stores := threeOf(t, f, func(int) string { return server.Addr }, fleetBucket, fleet.Patient...)
	term := f.Next()
	allWatch := func() bool { return len(consumers(t, stores[0])) == len(stores) }
	storetest.Eventually(t, "all watch", allWatch)
	for range 3 {
		for _, name := range consumers(t, stores[0]) {
			if err := stores[0].js.DeleteConsumer(t.Context(), stores[0].stream(), name); err != nil &&
				!strings.Contains(err.Error(), jetstream.ErrConsumerNotFound.Error()) {
				t.Fatal(err)
			}
		}
		storetest.Eventually(t, "all watch again", allWatch)
		f.Renewed(term, 2)
	}
}

// A leader that resigns is followed at once, whoever has been told by the server.
func TestHandOver(t *testing.T) {
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	stops := make(map[string]func())
	for i := range 3 {
		id := fmt.Sprint("node-", i)
		stops[id] = f.Stand(openStore(t, server.Addr, "elections"), id, tenure.WithTTL(time.Minute))
	}
	first := f.Next()
	stops[first.Leader]()
	second := f.Next() // within a minute, which a follower that was not told would have to wait for
	if second.Token != first.Token+1 {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
}
