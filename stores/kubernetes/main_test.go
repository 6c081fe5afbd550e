package kubernetes

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/tenure-go/tenure/internal/testserver"
)

// shared is a server for all tests that do it no harm: one takes ten seconds to start.
var shared struct {
	once   sync.Once
	server *testserver.Kubernetes
	tb     *lasting
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.tb != nil {
		shared.tb.end()
	}
	os.Exit(code)
}

// lasting is a [testserver.TB] that outlives the test which is the first to need the server. Tests that run at the same
// time use it.
type lasting struct {
	testing.TB

	mu       sync.Mutex
	cleanups []func()
}

func (l *lasting) Cleanup(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cleanups = append(l.cleanups, f)
}

func (l *lasting) Failed() bool        { return false }
func (l *lasting) Logf(string, ...any) {}

func (l *lasting) end() {
	for i := len(l.cleanups) - 1; i >= 0; i-- {
		l.cleanups[i]()
	}
}

// server returns the one that tests share.
func server(t *testing.T) *testserver.Kubernetes {
	t.Helper()
	shared.once.Do(func() {
		shared.tb = &lasting{TB: t}
		shared.server = testserver.StartKubernetes(shared.tb)
	})
	if shared.server == nil {
		t.Skip("there is no kube-apiserver; the first test says how to get it")
	}
	return shared.server
}

var namespaces atomic.Int64

// newNamespace makes a namespace of a test's own.
func newNamespace(t *testing.T, k *testserver.Kubernetes) string {
	t.Helper()
	name := fmt.Sprintf("test-%d", namespaces.Add(1))
	if err := k.Post("/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`); err != nil {
		t.Fatal(err)
	}
	return name
}

// openStore opens a store in a namespace, as the user with a token, at the server's address or that of a proxy.
func openStore(t *testing.T, k *testserver.Kubernetes, addr, namespace, token string, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), "kubernetes://"+namespace+"?kubeconfig="+k.Kubeconfig(addr, token), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newStore opens one in a namespace of its own on the shared server.
func newStore(t *testing.T) *Store {
	t.Helper()
	k := server(t)
	return openStore(t, k, k.Addr, newNamespace(t, k), testserver.KubernetesToken)
}

// clientFor is client-go's own, as other programs have it.
func clientFor(t *testing.T, addr string) *v1.CoordinationV1Client {
	t.Helper()
	client, err := v1.NewForConfig(&rest.Config{
		Host: "https://" + addr, BearerToken: testserver.KubernetesToken, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// mentions reports whether any of the reasons contains text.
func mentions(reasons []string, text string) bool {
	return strings.Contains(strings.Join(reasons, "\n"), text)
}
