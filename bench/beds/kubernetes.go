package beds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/kubernetes"
)

// Kubernetes are Leases of an API server over one etcd, which syncs every write.
func Kubernetes() bench.Bed {
	return bench.Bed{
		Name: "kubernetes", About: "Leases of one API server, over one etcd that syncs every write",
		Aim:   bench.Aim{Renewal: 1.5, HandOver: 4, Silent: true},
		Start: startKubernetes, Open: openKubernetes,
	}
}

func openKubernetes(ctx context.Context, address string) (bench.Store, error) {
	return kubernetes.Open(ctx, address)
}

type kubernetesServer struct {
	*testserver.Kubernetes

	kubeconfig string
	http       *http.Client
	leases     coordinationclient.LeaseInterface
	bare       [bench.BareValues]bareLease
}

// bareLease is a Lease as the last bare write left it: the API server takes no update of one without its version.
type bareLease struct {
	mu    sync.Mutex
	lease *coordinationv1.Lease
}

// withoutLeases keeps an API server from renewing a Lease of its own, so that all requests for Leases are of clients.
const withoutLeases = "--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false"

func startKubernetes(tb testserver.TB) (bench.Server, error) {
	server := testserver.StartKubernetes(tb, withoutLeases)
	k := &kubernetesServer{Kubernetes: server, kubeconfig: server.Kubeconfig(server.Addr, testserver.KubernetesToken)}
	config, err := clientcmd.BuildConfigFromFlags("", k.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the server is measured, not the client's restraint
	if err := k.connect(config); err != nil {
		return nil, err
	}
	return k, k.prepare()
}

func (k *kubernetesServer) connect(config *rest.Config) (err error) {
	if k.http, err = rest.HTTPClientFor(config); err != nil {
		return err
	}
	client, err := coordinationclient.NewForConfigAndClient(config, k.http)
	if err != nil {
		return err
	}
	k.leases = client.Leases(metav1.NamespaceDefault)
	return nil
}

// prepare makes the bare values.
func (k *kubernetesServer) prepare() error {
	for value := range k.bare {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("bare-", value), Annotations: map[string]string{"value": string(bareValue)},
		}}
		var err error
		k.bare[value].lease, err = k.leases.Create(context.Background(), lease, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// Version is what was built: the server does not know its own, which release builds of Kubernetes are told.
func (k *kubernetesServer) Version() string {
	return "kube-apiserver " + strings.TrimPrefix(k.Kubernetes.Version, "v")
}

func (k *kubernetesServer) Address() string {
	return "kubernetes://" + metav1.NamespaceDefault + "?" + url.Values{"kubeconfig": {k.kubeconfig}}.Encode()
}

func (k *kubernetesServer) Open(ctx context.Context) (bench.Store, error) {
	return openKubernetes(ctx, k.Address())
}

// Ping asks for the version, which takes no etcd.
func (k *kubernetesServer) Ping(ctx context.Context) error {
	return getWith(ctx, k.http, k.URL()+"/version")
}

// Write renews a Lease as an elector of client-go does.
func (k *kubernetesServer) Write(ctx context.Context, value int) error {
	b := &k.bare[value]
	b.mu.Lock()
	defer b.mu.Unlock()
	next, now := b.lease.DeepCopy(), metav1.NowMicro()
	next.Spec.RenewTime = &now
	written, err := k.leases.Update(ctx, next, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	b.lease = written
	return nil
}

// Counts implements [bench.Counter]. The server counts a watch when it ends.
func (k *kubernetesServer) Counts(ctx context.Context) (bench.Counts, error) {
	metrics, err := k.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := metrics.Sum("apiserver_request_total", ofLeases)
	watches, err2 := metrics.Sum("apiserver_longrunning_requests", ofLeases)
	return bench.Counts{bench.Requests: ended + watches}, errors.Join(err, err2)
}

const ofLeases = `resource="leases"`
