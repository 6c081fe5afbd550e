//go:build linux

package beds

import (
	"strings"
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
	held := storetest.Swap(t, store, "a", "", storetest.Held(1, "leader"))
	reads := func() bool {
		now, err := store.Load(t.Context(), "a")
		return err == nil && now.Version == held.Version
	}

	restore, err := s.Revoke()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("without rights a candidate is told %v", err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "the rights are back", reads)

	watch := storetest.Watch(t, store, "a")
	storetest.Await(t, watch, "the record", storetest.At(held.Version))
	for _, n := range s.Nodes {
		n.Restart() // whoever watches
	}
	storetest.Eventually(t, "the record is read", reads)
}
