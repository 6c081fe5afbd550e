package redis

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

func openAt(t testing.TB, url string, options ...Option) *Store {
	t.Helper()
	s, err := Open(context.Background(), url, options...)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Sentinel promotes a replica when the master dies. Candidates and watches go on there, above the token of before.
func TestSentinelFailover(t *testing.T) {
	master := testserver.StartRedis(t)
	replica := testserver.StartReplica(t, master)
	sentinel := testserver.StartSentinel(t, "mine", master, 1)
	url := "redis+sentinel://" + sentinel.Addr + "/mine"
	f := newFleet(t, "e", 2*time.Second)
	for _, id := range []string{"one", "two", "three"} {
		f.join(id, openAt(t, url))
	}
	leading := f.awaitLeader()
	s := openAt(t, url)
	box := watchInto(t, s, "e")
	n := box.await(t, "the current state", 0, func(d delivery) bool { return d.snapshot.Record.Leader == leading })
	awaitRenewals(t, s, "e", 1)

	master.Kill()
	n = box.await(t, "the interruption", n, interrupted)
	replica.Await("ROLE", "master")
	box.await(t, "a state from the new master", n, func(d delivery) bool { return d.err == nil })
	f.awaitLeader()
	eventually(t, "a leader renews at the new master", func() bool {
		got, err := s.Load(t.Context(), "e")
		return err == nil && got.Record.Leader == f.leader() && got.Record.Renewals > 2
	})
	f.end()
}

// A master that stands still and is replaced comes back as a replica, and takes no more writes.
func TestSentinelFailoverOfAFrozenMaster(t *testing.T) {
	master := testserver.StartRedis(t)
	replica := testserver.StartReplica(t, master)
	sentinel := testserver.StartSentinel(t, "mine", master, 1)
	url := "redis+sentinel://" + sentinel.Addr + "/mine"
	f := newFleet(t, "e", 2*time.Second)
	for _, id := range []string{"one", "two"} {
		f.join(id, openAt(t, url))
	}
	f.awaitLeader()
	awaitRenewals(t, openAt(t, url), "e", 1)
	master.Freeze()
	replica.Await("ROLE", "master")
	eventually(t, "a leader at the new master", func() bool {
		client := newClient(t, replica.Addr)
		got, err := newStore(t, client).Load(t.Context(), "e")
		return err == nil && f.leader() != "" && got.Record.Leader == f.leader()
	})
	master.Thaw()
	master.Await("ROLE", "slave")
	_, err := storeAt(t, master).CompareAndSwap(t.Context(), "other", "", leader(1, "one"))
	must(t, isFor(err, tenure.ErrNotApplied))
	f.awaitLeader()
	f.end()
}

// A write that too few replicas acknowledge is there all the same, and its writer is told that he cannot know.
func TestReplicasAcknowledge(t *testing.T) {
	master := testserver.StartRedis(t)
	replica := testserver.StartReplica(t, master)
	s := storeAt(t, master, WithReplicas(1, 10*time.Second))
	first := mustSwap(t, s, "e", "", leader(1, "one"))
	if got := mustLoad(t, storeAt(t, replica), "e"); got.Version != first.Version {
		t.Errorf("the replica that acknowledged has version %s, want %s", got.Version, first.Version)
	}
	if _, err := s.CompareAndSwap(t.Context(), "e", "wrong", leader(2, "two")); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("the error for a wrong version is %v, want a conflict", err)
	}
	master.MustDo("SCRIPT FLUSH")
	second := mustSwap(t, s, "e", first.Version, leader(2, "two"))

	replica.Freeze()
	hasty := storeAt(t, master, WithReplicas(1, 100*time.Millisecond))
	if _, err := hasty.CompareAndSwap(t.Context(), "e", second.Version, leader(3, "three")); !unknown(err) {
		t.Errorf("without an acknowledgement the error is %v, want one that leaves the outcome open", err)
	}
	third := mustLoad(t, s, "e")
	if third.Record.Session != "three" {
		t.Errorf("the record is %+v, want the one without an acknowledgement", third.Record)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := s.CompareAndSwap(ctx, "e", third.Version, leader(4, "four"))
	if !unknown(err) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with little time the error is %v, want that of the replicas", err)
	}
}

func TestReplicasAcknowledgeInACluster(t *testing.T) {
	nodes := testserver.StartRedisCluster(t, 2)
	s := newStore(t, newClusterClient(t, nodes), WithReplicas(1, 10*time.Millisecond))
	if _, err := s.CompareAndSwap(t.Context(), "e", "", leader(1, "one")); !unknown(err) {
		t.Errorf("without replicas the error is %v, want one that leaves the outcome open", err)
	}
	first := mustLoad(t, s, "e")
	m := newMigration(t, nodes, s, "e")
	m.begin()
	m.moveKeys()
	m.finish()
	_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
	must(t, isFor(err, tenure.ErrNotApplied)) // it MOVED
	eventually(t, "the new master is found", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
		return unknown(err)
	})
}
