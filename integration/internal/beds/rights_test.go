//go:build linux

package beds

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/etcd"
)

// The candidates' user is refused while its right is away, and reads the record when it is back.
func rightsAreTakenAway(t *testing.T, s *Server, store tenure.Store, says string, reads func() bool) {
	t.Helper()
	restore, err := s.Revoke()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("without rights a candidate is told %v", err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "the rights are back", reads)
}

// reading returns whether what is now written is still read.
func reading(t *testing.T, store tenure.Store) (written tenure.Version, reads func() bool) {
	t.Helper()
	written = storetest.Swap(t, store, "a", "", storetest.Held(1, "leader")).Version
	return written, func() bool {
		now, err := store.Load(t.Context(), "a")
		return err == nil && now.Version == written
	}
}

func TestEtcdTakesRightsAwayAndChangesLeaders(t *testing.T) {
	t.Parallel()
	testserver.Find(t, "etcd")
	s, err := EtcdCluster().Start(t)
	if err != nil {
		t.Fatal(err)
	}
	store, err := etcd.Open(t.Context(), s.URL(s.Addrs))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, reads := reading(t, store)
	rightsAreTakenAway(t, s, store, "permission denied", reads)
	if seen, err := s.ChangeLeader(); err != nil || !strings.Contains(seen, " led, and ") {
		t.Errorf("a change of the leader: %q, %v", seen, err)
	}
	storetest.Eventually(t, "the record is read", reads)
}
