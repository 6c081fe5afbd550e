package kubernetes

import (
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// in returns how candidates open stores at an address in a namespace of a test's own, each with connections of its own.
func in(t *testing.T, k *testserver.Kubernetes) func(addr string) tenure.Store {
	namespace := newNamespace(t, k)
	return func(addr string) tenure.Store { return openStore(t, k, addr, namespace, testserver.KubernetesToken) }
}

// at is for candidates that all use one address.
func at(t *testing.T, k *testserver.Kubernetes, addr string) scenario.Open {
	open := in(t, k)
	return func() tenure.Store { return open(addr) }
}

func TestLeaderIsCutOff(t *testing.T) {
	k := shared.Server(t)
	for name, cutOff := range scenario.CutOffs() {
		t.Run(name, func(t *testing.T) { scenario.LeaderIsCutOff(t, k.Addr, in(t, k), cutOff) })
	}
}

func TestConnectionsAreCutNowAndThen(t *testing.T) {
	k := shared.Server(t)
	proxy := tcpproxy.Start(t, k.Addr)
	scenario.TermOutlives(t, at(t, k, proxy.Addr()), scenario.Times(5, proxy.Cut)...)
}

// The API server stands still, or the etcd behind it.
func TestServerFrozenForAWhile(t *testing.T) {
	k := testserver.StartKubernetes(t)
	scenario.TermOutlives(t, at(t, k, k.Addr), scenario.Pause(k.Process), scenario.Pause(k.Etcd.Process))
}

func TestServerFrozen(t *testing.T) {
	k := testserver.StartKubernetes(t)
	scenario.Outages(t, at(t, k, k.Addr), scenario.Freeze(k.Process), scenario.Freeze(k.Etcd.Process))
}

func TestServerRestarted(t *testing.T) {
	k := testserver.StartKubernetes(t)
	scenario.TermOutlives(t, at(t, k, k.Addr), scenario.Crash(k.Process), scenario.Crash(k.Etcd.Process))
}

func TestHandOver(t *testing.T) {
	k := shared.Server(t)
	scenario.HandOver(t, at(t, k, k.Addr))
}
