package redis

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
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
	t.Parallel()
	master := testserver.StartRedis(t)
	replica := testserver.StartReplica(t, master)
	sentinel := testserver.StartSentinel(t, "mine", master, 1)
	url := "redis+sentinel://" + sentinel.Addr + "/mine"
	f := fleet.New(t)
	for _, id := range []string{"one", "two", "three"} {
		f.Stand(openAt(t, url), id)
	}
	leading := f.Next().Leader
	s := openAt(t, url)
	box := watchInto(t, s, fleet.Election)
	n := box.await(t, "the current state", 0, func(d delivery) bool { return d.snapshot.Record.Leader == leading })
	awaitRenewal(t, s)

	master.Kill()
	n = box.await(t, "the interruption", n, interrupted)
	replica.Await("ROLE", "master")
	box.await(t, "a state from the new master", n, func(d delivery) bool { return d.err == nil })
	before := uint64(0)
	storetest.Eventually(t, "a leader renews at the new master", func() bool {
		got, err := s.Load(t.Context(), fleet.Election)
		term, leads := f.Leader()
		if err != nil || !leads || got.Record.Leader != term.Leader {
			return false
		}
		renewed := before > 0 && got.Record.Renewals > before
		before = got.Record.Renewals
		return renewed
	})
	f.Check()
}

// A master that stands still and is replaced comes back as a replica, and takes no more writes.
func TestSentinelFailoverOfAFrozenMaster(t *testing.T) {
	t.Parallel()
	master := testserver.StartRedis(t)
	replica := testserver.StartReplica(t, master)
	sentinel := testserver.StartSentinel(t, "mine", master, 1)
	url := "redis+sentinel://" + sentinel.Addr + "/mine"
	f := fleet.New(t)
	for _, id := range []string{"one", "two"} {
		f.Stand(openAt(t, url), id)
	}
	f.Next()
	awaitRenewal(t, openAt(t, url))
	master.Freeze()
	replica.Await("ROLE", "master")
	storetest.Eventually(t, "a leader at the new master", func() bool {
		client := newClient(t, replica.Addr)
		got, err := newStore(t, client).Load(t.Context(), fleet.Election)
		term, leads := f.Leader()
		return err == nil && leads && got.Record.Leader == term.Leader
	})
	master.Thaw()
	master.Await("ROLE", "slave")
	_, err := storeAt(t, master).CompareAndSwap(t.Context(), "other", "", leader(1, "one"))
	must(t, isFor(err, tenure.ErrNotApplied))
	f.Await(0)
	f.Check()
}

// A write that too few replicas acknowledge is there all the same, and its writer is told that he cannot know.
func TestReplicasAcknowledge(t *testing.T) {
	t.Parallel()
	master := testserver.StartRedis(t)
	replica := testserver.StartReplica(t, master)
	s := storeAt(t, master, WithReplicas(1, 10*time.Second))
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	if got := storetest.Load(t, storeAt(t, replica), "e"); got.Version != first.Version {
		t.Errorf("the replica that acknowledged has version %s, want %s", got.Version, first.Version)
	}
	if _, err := s.CompareAndSwap(t.Context(), "e", "wrong", leader(2, "two")); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("the error for a wrong version is %v, want a conflict", err)
	}
	master.MustDo("SCRIPT FLUSH")
	second := storetest.Swap(t, s, "e", first.Version, leader(2, "two"))

	replica.Freeze()
	hasty := storeAt(t, master, WithReplicas(1, 100*time.Millisecond))
	if _, err := hasty.CompareAndSwap(t.Context(), "e", second.Version, leader(3, "three")); !unknown(err) {
		t.Errorf("without an acknowledgement the error is %v, want one that leaves the outcome open", err)
	}
	third := storetest.Load(t, s, "e")
	if third.Record.Session != "three" {
		t.Errorf("the record is %+v, want the one without an acknowledgement", third.Record)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // a quarter of it is left when the replicas' time is up
	defer cancel()
	_, err := s.CompareAndSwap(ctx, "e", third.Version, leader(4, "four"))
	if !unknown(err) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with little time the error is %v, want that of the replicas", err)
	}
}

func TestReplicasAcknowledgeInACluster(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 2)
	s := newStore(t, newClusterClient(t, nodes), WithReplicas(1, 10*time.Millisecond))
	if _, err := s.CompareAndSwap(t.Context(), "e", "", leader(1, "one")); !unknown(err) {
		t.Errorf("without replicas the error is %v, want one that leaves the outcome open", err)
	}
	first := storetest.Load(t, s, "e")
	m := newMigration(t, nodes, s, "e")
	m.begin()
	m.moveKeys()
	m.finish()
	_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
	must(t, isFor(err, tenure.ErrNotApplied)) // it MOVED
	storetest.Eventually(t, "the new master is found", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
		return unknown(err)
	})
}
