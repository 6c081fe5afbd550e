package testserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Kubernetes is a running kube-apiserver, which keeps its objects in an etcd of its own when it restarts.
type Kubernetes struct {
	*Process
	// Addr is its host and port. It speaks HTTPS alone, with a certificate that nobody knows.
	Addr string
	// Etcd is where it keeps its objects.
	Etcd *Etcd
	// Version is the one that was built: such a server does not know its own, which release builds are told.
	Version string

	client http.Client
}

// KubernetesToken is the bearer token with which a client may do anything, KubernetesUser what begins the token of a
// user who may do only what roles say: what follows is the user's name, one of [KubernetesUsers].
const (
	KubernetesToken = "testserver"
	KubernetesUser  = "user-"
)

// KubernetesUsers are the users without any rights but those that a test gives them.
func KubernetesUsers() []string { return []string{"alice", "bob", "candidate"} }

// StartKubernetes starts a kube-apiserver over an etcd, with further arguments. It returns once the namespace default
// is there.
func StartKubernetes(tb TB, args ...string) *Kubernetes {
	tb.Helper()
	program := Find(tb, "kube-apiserver")
	port, dir := Port(tb), Dir(tb)
	k := &Kubernetes{Addr: Addr(port), Etcd: StartEtcd(tb), Version: versionOf("kube-apiserver")}
	k.client.Transport = &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the server is on this host
	}
	key, tokens := filepath.Join(dir, "key.pem"), filepath.Join(dir, "tokens")
	if err := k.secrets(key, tokens); err != nil {
		tb.Fatalf("configure kube-apiserver: %v", err)
	}
	k.Process = Start(tb, Command{Program: program, Ready: k.ready, Args: append([]string{
		"--etcd-servers=http://" + k.Etcd.Addr, "--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + dir, "--token-auth-file=" + tokens, "--authorization-mode=RBAC",
		"--service-account-issuer=https://testserver", "--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key, "--service-cluster-ip-range=10.0.0.0/24",
	}, args...)})
	return k
}

func (k *Kubernetes) secrets(key, tokens string) error {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}
	if err := os.WriteFile(key, pem.EncodeToMemory(block), 0o600); err != nil {
		return err
	}
	lines := []string{KubernetesToken + ",admin,admin,system:masters"}
	for _, user := range KubernetesUsers() {
		lines = append(lines, fmt.Sprintf("%s%s,%s,%s", KubernetesUser, user, user, user))
	}
	return os.WriteFile(tokens, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// URL returns the server's.
func (k *Kubernetes) URL() string { return "https://" + k.Addr }

// Kubeconfig writes a configuration as kubectl reads it, for a token and an address, such as that of a proxy, and
// returns its path.
func (k *Kubernetes) Kubeconfig(addr, token string) string {
	k.tb.Helper()
	path := filepath.Join(Dir(k.tb), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://%s", insecure-skip-tls-verify: true}}]
users: [{name: test, user: {token: %q}}]
contexts: [{name: test, context: {cluster: test, user: test, namespace: default}}]
current-context: test
`, addr, token)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		k.tb.Fatalf("write a kubeconfig: %v", err)
	}
	return path
}

// Post makes an object with the token that may do anything, and returns an error unless it was made.
func (k *Kubernetes) Post(path, object string) error {
	_, err := k.Ask(context.Background(), http.MethodPost, path, KubernetesToken, object)
	return err
}

// Metrics returns the server's.
func (k *Kubernetes) Metrics(ctx context.Context) (Metrics, error) {
	text, err := k.Ask(ctx, http.MethodGet, "/metrics", KubernetesToken, "")
	return Metrics(text), err
}

// ready returns nil once the namespace is there that the server makes for itself, and its roles.
func (k *Kubernetes) ready(ctx context.Context) error {
	if _, err := k.Ask(ctx, http.MethodGet, "/readyz", KubernetesToken, ""); err != nil {
		return err
	}
	_, err := k.Ask(ctx, http.MethodGet, "/api/v1/namespaces/default", KubernetesToken, "")
	return err
}

// Ask sends a request with a bearer token and returns the body of the answer, or an error unless that is a success.
func (k *Kubernetes) Ask(ctx context.Context, method, path, token, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, k.URL()+path, bytes.NewBufferString(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := k.client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return string(text), err
}
