//go:build linux

package beds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// Kubernetes is Leases of an API server over an etcd of its own.
func Kubernetes() Bed {
	return Bed{
		Name: "kubernetes", About: "Leases of one API server over one etcd", Tags: "kubernetes", Start: startKubernetes,
	}
}

// What the candidates' user is bound to, and where.
const (
	namespace = "elections"
	leases    = "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases"
	roles     = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace + "/roles"
	bindings  = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace + "/rolebindings"

	candidateToken = testserver.KubernetesUser + candidateRole
	// leaseRole has the rights that the store's README asks for, and no others.
	leaseRole = `{"metadata": {"name": "` + candidateRole + `"}, "rules": [{"apiGroups": ["coordination.k8s.io"],
		"resources": ["leases"], "verbs": ["get", "create", "update", "list", "watch"]}]}`
	leaseBinding = `{"metadata": {"name": "` + candidateRole + `"},
		"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "` + candidateRole + `"},
		"subjects": [{"kind": "User", "name": "` + candidateRole + `"}]}`
)

// endsWatches has an API server end watches, too, when it is told to end. By itself it waits a minute for its clients
// to give them up.
const endsWatches = "--shutdown-watch-termination-grace-period=2s"

func startKubernetes(tb testserver.TB) (*Server, error) {
	k := testserver.StartKubernetes(tb, endsWatches)
	for _, object := range [][2]string{
		{"/api/v1/namespaces", `{"metadata": {"name": "` + namespace + `"}}`}, {roles, leaseRole}, {bindings, leaseBinding},
	} {
		if err := k.Post(object[0], object[1]); err != nil {
			return nil, err
		}
	}
	return &Server{
		Version: "kube-apiserver", Addrs: []string{k.Addr},
		URL: func(addrs []string) string {
			return "kubernetes://" + namespace + "?kubeconfig=" + k.Kubeconfig(addrs[0], candidateToken)
		},
		Nodes: []Node{{Name: "apiserver", Process: k.Process}, {Name: "etcd", Process: k.Etcd.Process}},
		Revoke: func() (func() error, error) {
			restore := func() error { return k.Post(bindings, leaseBinding) }
			if err := unbind(k); err != nil {
				return restore, err
			}
			return restore, awaitRights(k, false)
		},
	}, awaitRights(k, true)
}

// unbind takes the role away from the candidates' user.
func unbind(k *testserver.Kubernetes) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := k.Ask(ctx, http.MethodDelete, bindings+"/"+candidateRole, testserver.KubernetesToken, "")
	return err
}

// awaitRights returns once the API server has been told that the candidates' user is bound to its role, or that it is
// not.
func awaitRights(k *testserver.Kubernetes, want bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		_, err := k.Ask(ctx, http.MethodGet, leases, candidateToken, "")
		if want && err == nil || !want && err != nil && strings.Contains(err.Error(), "is forbidden") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the right of the candidates' user to read Leases, want %t: %w", want, errors.Join(ctx.Err(), err))
		case <-time.After(5 * time.Millisecond): // nothing tells
		}
	}
}
