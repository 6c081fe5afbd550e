package kubernetes

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/tenure-go/tenure/internal/testserver"
)

// shared is the server of all tests that do it no harm. Each has a namespace of its own.
var shared = testserver.Shared[testserver.Kubernetes]{
	Start: func(tb testserver.TB) *testserver.Kubernetes { return testserver.StartKubernetes(tb) },
}

func TestMain(m *testing.M) {
	code := m.Run()
	shared.End()
	os.Exit(code)
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
	k := shared.Server(t)
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
