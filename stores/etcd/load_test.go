package etcd

import (
	"fmt"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Story 26: candidates that stand send nothing while the watch delivers. The server counts.
func TestFollowersAreSilent(t *testing.T) {
	server := testserver.StartEtcd(t)
	f := fleet.New(t)
	defer f.Check()
	// A long interval keeps a busy machine from being taken for a silent server.
	const rest = "/fleet?ping=1m"
	often := tenure.WithRenewInterval(fleet.TTL / 12)
	leader := openStore(t, server.Addr, rest)
	stop := f.Stand(leader, "leader", tenure.WithTTL(fleet.TTL), often)
	defer stop()
	term := f.Next()
	for i := range 9 {
		f.Stand(openStore(t, server.Addr, rest), fmt.Sprint("follower-", i), tenure.WithTTL(fleet.TTL), often)
	}
	f.Known(term)
	f.Renewed(term, 3) // by then all have settled
	begun := f.Renewals(term)
	before := server.Received()
	f.Renewed(term, 12)
	sent := server.Received() - before
	written := int64(f.Renewals(term)-begun) + 2 // the count may have begun and ended in between two renewals
	if sent > written {
		t.Errorf("10 candidates have sent %d messages while the leader renewed %d times", sent, written)
	}
	t.Logf("10 candidates have sent %d messages while the leader renewed %d times", sent, written-2)
}

// A herd: when the leader of 300 candidates resigns, the server gets one release, one bid that it accepts, and of each
// of the others at most one that it rejects.
func TestHerd(t *testing.T) {
	t.Run("one member", func(t *testing.T) { herd(t, testserver.StartEtcd(t)) })
	t.Run("three members", func(t *testing.T) { herd(t, testserver.StartEtcdCluster(t, 3)...) })
}

func herd(t *testing.T, members ...*testserver.Etcd) {
	var stores []tenure.Store
	for range 20 {
		stores = append(stores, openStore(t, all(members), "?ping=10m"))
	}
	observer := openStore(t, all(members), "")
	scenario.Herd{
		Candidates: 300, Stores: stores, Tried: members[0].Proposed,
		Sent: func() (sent int64) {
			for _, m := range members {
				sent += m.Received()
			}
			return sent
		},
		Accepted: func() int64 {
			_, revision, err := observer.all(t.Context(), observer.names.prefix)
			if err != nil {
				t.Fatal(err)
			}
			return revision
		},
	}.Check(t)
}
