package contenders

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/internal/testserver"
)

func needsKubernetes() error {
	return errors.Join(testserver.Missing("kube-apiserver"), testserver.Missing("etcd"))
}

func kubernetesArena() peers.Arena {
	return peers.Arena{
		Name: "Kubernetes", Start: func(tb testserver.TB) (peers.Server, error) { return startKubernetes(tb) },
	}
}

func startKubernetes(tb testserver.TB) (*kubernetesServer, error) {
	server := testserver.StartKubernetes(tb)
	k := &kubernetesServer{address: server.URL(), version: server.Version}
	var err error
	if k.client, err = kubernetes.NewForConfig(kubernetesConfig(k.address)); err != nil {
		return nil, err
	}
	if k.http, err = rest.HTTPClientFor(kubernetesConfig(k.address)); err != nil {
		return nil, err
	}
	_, err = k.client.CoordinationV1().Leases(metav1.NamespaceDefault).Create(context.Background(),
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: bareLease}}, metav1.CreateOptions{})
	return k, err
}

// kubernetesConfig does not throttle: else the client, not the server, would be measured with many candidates.
func kubernetesConfig(address string) *rest.Config {
	return &rest.Config{
		Host: address, BearerToken: testserver.KubernetesToken, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}
}

type kubernetesServer struct {
	address string
	version string
	client  *kubernetes.Clientset
	http    *http.Client
}

// bareLease is that of bare writes.
const bareLease = "bare"

// Version is what was built: the server does not know its own, which release builds of Kubernetes set.
func (k *kubernetesServer) Version() string {
	return "kube-apiserver " + strings.TrimPrefix(k.version, "v")
}

func (k *kubernetesServer) Address() string { return k.address }

func (k *kubernetesServer) Ping(ctx context.Context) error {
	return getOK(ctx, k.http, k.address+"/version")
}

// getOK makes a request that has to succeed.
func getOK(ctx context.Context, client *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", address, response.Status, text)
	}
	return err
}

func (k *kubernetesServer) Write(ctx context.Context, value int) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"value-%d":"%s"}}}`, value, rand.Text())
	_, err := k.client.CoordinationV1().Leases(metav1.NamespaceDefault).
		Patch(ctx, bareLease, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// Counts implements [bench.Counter]. The server renews Leases of its own, which its metrics do not tell from others, so
// what this process sends is counted where it sends it.
func (k *kubernetesServer) Counts(context.Context) (bench.Counts, error) {
	t := tallyOf(k.address)
	return bench.Counts{bench.Requests: float64(t.requests.Load()), peers.Writes: float64(t.writes.Load())}, nil
}

// tallies are of the candidates of this process, by the address of their server.
var tallies sync.Map

// tally counts requests, and those that have changed something.
type tally struct{ requests, writes atomic.Int64 }

func tallyOf(address string) *tally {
	t, _ := tallies.LoadOrStore(address, new(tally))
	return t.(*tally)
}

func (t *tally) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		t.requests.Add(1)
		response, err := next.RoundTrip(request)
		if err == nil && request.Method != http.MethodGet && response.StatusCode < http.StatusMultipleChoices {
			t.writes.Add(1)
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
