package kubernetes

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	k := shared.Server(t)
	namespace := newNamespace(t, k)
	open := func(t *testing.T) tenure.Store { return openStore(t, k, k.Addr, namespace, testserver.KubernetesToken) }
	leases := clientFor(t, k.Addr).Leases(namespace)
	remove := func(t *testing.T, election string) {
		if err := leases.Delete(t.Context(), leaseName(election), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}
