package contenders

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/internal/testserver"
)

// kubernetesVersion is of what bench/peers/get builds.
const kubernetesVersion = "v1.37.1"

// cached returns the path of what bench/peers/get has put into the cache.
func cached(parts ...string) (string, error) {
	cache := os.Getenv("TENURE_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(dir, "tenure")
	}
	path := filepath.Join(append([]string{cache, "peers"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not in the cache; get it with: bash bench/peers/get", filepath.Join(parts...))
	}
	return path, nil
}

func kubernetesProgram() (string, error) {
	return cached("kube-apiserver@"+kubernetesVersion, "kube-apiserver")
}

func needsKubernetes() error {
	_, err := kubernetesProgram()
	return err
}

func kubernetesArena() peers.Arena {
	return peers.Arena{
		Name: "Kubernetes", Start: func(tb testserver.TB) (peers.Server, error) { return startKubernetes(tb) },
	}
}

// kubernetesToken lets anybody in who has it. The server listens on loopback alone and holds nothing.
const kubernetesToken = "bench"

func startKubernetes(tb testserver.TB) (*kubernetesServer, error) {
	program, err := kubernetesProgram()
	if err != nil {
		return nil, err
	}
	etcd, err := startEtcd(tb)
	if err != nil {
		return nil, err
	}
	dir, port := testserver.Dir(tb), testserver.Port(tb)
	key, tokens := filepath.Join(dir, "key.pem"), filepath.Join(dir, "tokens")
	if err := writeKey(key); err != nil {
		return nil, err
	}
	if err := os.WriteFile(tokens, []byte(kubernetesToken+",bench,bench,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	k := &kubernetesServer{address: "https://" + testserver.Addr(port)}
	if k.client, err = kubernetes.NewForConfig(kubernetesConfig(k.address)); err != nil {
		return nil, err
	}
	if k.http, err = rest.HTTPClientFor(kubernetesConfig(k.address)); err != nil {
		return nil, err
	}
	testserver.Start(tb, testserver.Command{Program: program, Ready: k.ready, Args: []string{
		"--etcd-servers=" + etcd.address, "--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + dir, "--token-auth-file=" + tokens, "--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://bench", "--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key, "--service-cluster-ip-range=10.0.0.0/24",
	}})
	return k, nil
}

func writeKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}

// kubernetesConfig does not throttle: else the client, not the server, would be measured with many candidates.
func kubernetesConfig(address string) *rest.Config {
	return &rest.Config{
		Host: address, BearerToken: kubernetesToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1,
	}
}

type kubernetesServer struct {
	address string
	client  *kubernetes.Clientset
	http    *http.Client
}

// ready returns nil once the namespace is there that the server makes for itself, and the Lease for bare writes.
func (k *kubernetesServer) ready(ctx context.Context) error {
	if _, err := k.client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{}); err != nil {
		return err
	}
	_, err := k.client.CoordinationV1().Leases(metav1.NamespaceDefault).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: bareLease},
	}, metav1.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

const bareLease = "bare"

// Version is what was built: the server does not know its own, which release builds of Kubernetes set.
func (k *kubernetesServer) Version() string {
	return "kube-apiserver " + strings.TrimPrefix(kubernetesVersion, "v")
}

func (k *kubernetesServer) Address() string { return k.address }

func (k *kubernetesServer) Ping(ctx context.Context) error {
	return getOK(ctx, k.http, k.address+"/version")
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
