//go:build linux

package beds

import (
	"testing"

	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/kubernetes"
)

// The candidates' user is refused while its rights are away. What was written outlives both processes of the server.
func TestKubernetesTakesRightsAwayAndRestarts(t *testing.T) {
	t.Parallel()
	testserver.Find(t, "kube-apiserver")
	s, err := Kubernetes().Start(t)
	if err != nil {
		t.Fatal(err)
	}
	store, err := kubernetes.Open(t.Context(), s.URL(s.Addrs))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	written, reads := reading(t, store)
	rightsAreTakenAway(t, s, store, "forbidden", reads)

	watch := storetest.Watch(t, store, "a")
	storetest.Await(t, watch, "the record", storetest.At(written))
	for _, n := range s.Nodes {
		n.Restart() // whoever watches
	}
	storetest.Eventually(t, "the record is read", reads)
}
