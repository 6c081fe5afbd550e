package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// threeOf has three candidates stand, each with a store and connections of its own.
func threeOf(t *testing.T, f *fleet.Fleet, k *testserver.Kubernetes, addr string, options ...tenure.Option) []*Store {
	t.Helper()
	namespace := newNamespace(t, k)
	var stores []*Store
	for i := range 3 {
		s := openStore(t, k, addr, namespace, testserver.KubernetesToken)
		stores = append(stores, s)
		f.Stand(s, fmt.Sprint("node-", i), options...)
	}
	return stores
}

// A leader that cannot reach the API server any more ends its term by its own clock, before another one leads.
func TestLeaderIsCutOff(t *testing.T) {
	k := server(t)
	for name, cutOff := range map[string]func(*tcpproxy.Proxy){
		"connection reset":     func(p *tcpproxy.Proxy) { p.Refuse(true); p.Cut() },
		"connection hangs":     func(p *tcpproxy.Proxy) { p.Hold() },
		"replies are lost":     func(p *tcpproxy.Proxy) { p.HoldReplies() },
		"requests do not pass": func(p *tcpproxy.Proxy) { p.HoldRequests() },
	} {
		t.Run(name, func(t *testing.T) {
			f := fleet.New(t)
			defer f.Check()
			proxy, namespace := tcpproxy.Start(t, k.Addr), newNamespace(t, k)
			f.Stand(openStore(t, k, proxy.Addr(), namespace, testserver.KubernetesToken), "cut off")
			first := f.Next()
			for _, id := range []string{"one", "two"} {
				f.Stand(openStore(t, k, k.Addr, namespace, testserver.KubernetesToken), id, fleet.Patient...)
			}
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
	k := server(t)
	f := fleet.New(t)
	defer f.Check()
	proxy := tcpproxy.Start(t, k.Addr)
	threeOf(t, f, k, proxy.Addr(), fleet.Patient...)
	term := f.Next()
	for range 5 {
		proxy.Cut()
		f.Renewed(term, 2) // of which one may have been written before
	}
}

// An API server, or the etcd behind it, that stands still for less than the lease changes nothing.
func TestServerFrozenForAWhile(t *testing.T) {
	k := testserver.StartKubernetes(t)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, k, k.Addr, fleet.Patient...)
	first := f.Next()
	f.Known(first)
	for _, p := range []*testserver.Process{k.Process, k.Etcd.Process} {
		p.Freeze()
		f.Stays(first, time.Second)
		p.Thaw()
		f.Renewed(first, 2)
	}
}

// If it does for longer the leader stops in time.
func TestServerFrozen(t *testing.T) {
	k := testserver.StartKubernetes(t)
	f := fleet.New(t)
	defer f.Check()
	stores := threeOf(t, f, k, k.Addr)
	first := f.Next()
	for _, p := range []*testserver.Process{k.Process, k.Etcd.Process} {
		p.Freeze()
		f.Over(first)
		p.Thaw()
		first = f.Await(first.Token)
		storetest.Eventually(t, "the term is renewed", func() bool {
			now, err := stores[0].Load(t.Context(), fleet.Election)
			return err == nil && now.Record.Token >= first.Token && now.Record.Renewals >= 3
		})
		first = f.Await(first.Token - 1)
	}
}

func TestServerRestarted(t *testing.T) {
	k := testserver.StartKubernetes(t)
	f := fleet.New(t)
	defer f.Check()
	threeOf(t, f, k, k.Addr, fleet.Patient...)
	first := f.Next()
	k.Kill()
	k.Start()
	f.Renewed(first, 2)
	k.Etcd.Kill()
	k.Etcd.Start()
	f.Renewed(first, 2)
}

// A leader that resigns is followed at once, whoever has been told by the API server.
func TestHandOver(t *testing.T) {
	k := server(t)
	f := fleet.New(t)
	defer f.Check()
	namespace := newNamespace(t, k)
	stops := make(map[string]func())
	for i := range 3 {
		id := fmt.Sprint("node-", i)
		s := openStore(t, k, k.Addr, namespace, testserver.KubernetesToken)
		stops[id] = f.Stand(s, id, tenure.WithTTL(time.Minute))
	}
	first := f.Next()
	stops[first.Leader]()
	second := f.Next() // within a minute, which a follower that was not told would have to wait for
	if second.Token != first.Token+1 {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
}
