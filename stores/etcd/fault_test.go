package etcd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// threeOf has three candidates stand, each with a store and a client of its own.
func threeOf(t *testing.T, f *fleet.Fleet, addr string, options ...tenure.Option) []*Store {
	t.Helper()
	var stores []*Store
	for i := range 3 {
		s := openStore(t, addr, "")
		stores = append(stores, s)
		f.Stand(s, fmt.Sprint("node-", i), options...)
	}
	return stores
}

// A leader that cannot reach the server any more ends its term by its own clock, before another one leads.
func TestLeaderIsCutOff(t *testing.T) {
	server := testserver.StartEtcd(t)
	for name, cutOff := range map[string]func(*tcpproxy.Proxy){
		"connection reset":     func(p *tcpproxy.Proxy) { p.Refuse(true); p.Cut() },
		"connection hangs":     func(p *tcpproxy.Proxy) { p.Hold() },
		"replies are lost":     func(p *tcpproxy.Proxy) { p.HoldReplies() },
		"requests do not pass": func(p *tcpproxy.Proxy) { p.HoldRequests() },
	} {
		t.Run(name, func(t *testing.T) {
			f := fleet.New(t)
			defer f.Check()
			proxy, prefix := tcpproxy.Start(t, server.Addr), "/"+strings.ReplaceAll(name, " ", "-")
			f.Stand(openStore(t, proxy.Addr(), prefix), "cut off")
			first := f.Next()
			f.Stand(openStore(t, server.Addr, prefix), "one", fleet.Patient...)
			f.Stand(openStore(t, server.Addr, prefix), "two", fleet.Patient...)
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
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	proxy := tcpproxy.Start(t, server.Addr)
	threeOf(t, f, proxy.Addr(), fleet.Patient...)
	term := f.Next()
	for range 5 {
		proxy.Cut()
		f.Renewed(term, 2) // of which one may have been written before
	}
}

// A server that stands still for less than the lease changes nothing.
func TestServerFrozenForAWhile(t *testing.T) {
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, server.Addr, fleet.Patient...)
	first := f.Next()
	f.Known(first)
	server.Freeze()
	f.Stays(first, time.Second)
	server.Thaw()
	f.Renewed(first, 2)
}

// If it does for longer the leader stops in time.
func TestServerFrozen(t *testing.T) {
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	stores := threeOf(t, f, server.Addr)
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
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, server.Addr, fleet.Patient...)
	first := f.Next()
	server.Restart()
	f.Renewed(first, 2)
	server.Kill()
	server.Start()
	f.Renewed(first, 2)
}

// A server that forgets everything is an emptied store: the record counts as held until its lease has run out, and the
// candidates that remember the token go on above it, although revisions begin again.
func TestServerForgets(t *testing.T) {
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, server.Addr)
	first := f.Next()
	f.Known(first)
	server.Kill()
	server.Forget()
	server.Start()
	second := f.Next()
	if second.Token <= first.Token {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
	f.Renewed(second, 3)
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

// The member that leads the cluster is lost. Somebody leads on over the others, and goes on when it is back.
func TestLeadingMemberIsLost(t *testing.T) {
	for name, lose := range map[string]func(*testserver.Etcd) (back func()){
		"stopped": func(e *testserver.Etcd) func() { e.Stop(); return e.Start },
		"killed":  func(e *testserver.Etcd) func() { e.Kill(); return e.Start },
		"frozen":  func(e *testserver.Etcd) func() { e.Freeze(); return e.Thaw },
	} {
		t.Run(name, func(t *testing.T) {
			members := testserver.StartEtcdCluster(t, 3)
			f := fleet.New(t)
			defer f.Check()
			threeOf(t, f, all(members))
			f.Next()
			leader := leaderOf(t, members)
			watching := openStore(t, members[(leader+1)%3].Addr, "")
			before := storetest.Load(t, watching, fleet.Election).Version
			back := lose(members[leader])
			var held tenure.Snapshot
			storetest.Eventually(t, "somebody leads over the other members", func() bool {
				var err error
				held, err = watching.Load(t.Context(), fleet.Election)
				return err == nil && held.Version != before && !held.Record.Vacant()
			})
			back()
			storetest.Eventually(t, "it goes on after the member is back", func() bool {
				now, err := watching.Load(t.Context(), fleet.Election)
				return err == nil && now.Version != held.Version && !now.Record.Vacant()
			})
		})
	}
}

// The cluster's leadership moves in good order, as for maintenance.
func TestLeadershipOfTheClusterMoves(t *testing.T) {
	members := testserver.StartEtcdCluster(t, 3)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, all(members), fleet.Patient...)
	term := f.Next()
	for range 3 {
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
		f.Renewed(term, 10)
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

// A leader that resigns is followed at once, whoever has been told by the server.
func TestHandOver(t *testing.T) {
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	stops := make(map[string]func())
	for i := range 3 {
		id := fmt.Sprint("node-", i)
		stops[id] = f.Stand(openStore(t, server.Addr, ""), id, tenure.WithTTL(time.Minute))
	}
	first := f.Next()
	stops[first.Leader]()
	second := f.Next() // within a minute, which a follower that was not told would have to wait for
	if second.Token != first.Token+1 {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
}

// A server that is restored from a backup has lost what was written since, and gives its revisions out again. The
// candidates that saw what was lost go on above its token, once its lease has run out, and the watches are restored.
func TestBackupIsRestored(t *testing.T) {
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	stops := make(map[string]func())
	for i := range 4 {
		id := fmt.Sprint("node-", i)
		stops[id] = f.Stand(openStore(t, server.Addr, ""), id)
	}
	first := f.Next()
	f.Known(first)
	server.Kill()
	restore := server.Backup()
	server.Start()
	latest := first
	for range 2 {
		stops[latest.Leader]()
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
