package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Elections are dealt out over the masters, and everything of one election lies in one slot.
func TestClusterSpreadsElections(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 3)
	s := newStore(t, newClusterClient(t, nodes))
	for i := range 60 {
		storetest.Swap(t, s, fmt.Sprint("election-", i), "", leader(1, "one"))
	}
	for _, n := range nodes {
		var keys int
		if _, err := fmt.Sscan(n.MustDo("DBSIZE"), &keys); err != nil || keys < 20 {
			t.Errorf("%s has %d keys, want a third of 60 records and their sets of names", n.Addr, keys)
		}
	}
	slot := func(key string) string { return nodes[0].MustDo("CLUSTER KEYSLOT " + key) }
	for _, key := range append(s.layout.keys("e"), s.layout.channel("e")) {
		if slot(key) != slot(s.layout.record("e")) {
			t.Errorf("%s lies in slot %s, the record in %s", key, slot(key), slot(s.layout.record("e")))
		}
	}
}

// migration moves the slot of an election from its master to another one, a step at a time.
type migration struct {
	t        *testing.T
	slot     string
	from, to *testserver.Redis
}

func newMigration(t *testing.T, nodes []*testserver.Redis, s *Store, election string) *migration {
	m := &migration{t: t, slot: nodes[0].MustDo("CLUSTER KEYSLOT " + s.layout.record(election))}
	for _, n := range nodes {
		if n.MustDo("CLUSTER COUNTKEYSINSLOT "+m.slot) != "0" {
			m.from = n
		} else {
			m.to = n
		}
	}
	if m.from == nil {
		t.Fatalf("nobody has slot %s", m.slot)
	}
	return m
}

func (m *migration) begin() {
	m.to.MustDo("CLUSTER SETSLOT " + m.slot + " IMPORTING " + m.from.MustDo("CLUSTER MYID"))
	m.from.MustDo("CLUSTER SETSLOT " + m.slot + " MIGRATING " + m.to.MustDo("CLUSTER MYID"))
}

func (m *migration) moveKeys() {
	host, port, _ := strings.Cut(m.to.Addr, ":")
	for _, key := range strings.Fields(m.from.MustDo("CLUSTER GETKEYSINSLOT " + m.slot + " 100")) {
		m.from.MustDo(fmt.Sprintf("MIGRATE %s %s %s 0 5000", host, port, key))
	}
}

func (m *migration) finish() {
	id := m.to.MustDo("CLUSTER MYID")
	m.to.MustDo("CLUSTER SETSLOT " + m.slot + " NODE " + id)
	m.from.MustDo("CLUSTER SETSLOT " + m.slot + " NODE " + id)
}

// A slot moves to another master while its election is written and watched. Writes are redirected at every step, and the
// watch follows.
func TestSlotMoves(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 2)
	s, watching := newStore(t, newClusterClient(t, nodes)), newStore(t, newClusterClient(t, nodes))
	current := storetest.Swap(t, s, "e", "", leader(1, "one"))
	box := watchInto(t, watching, "e")
	n := box.await(t, "the current state", 0, version(current.Version))
	m := newMigration(t, nodes, s, "e")
	token := uint64(1)
	write := func() {
		t.Helper()
		token++
		current = storetest.Swap(t, s, "e", current.Version, leader(token, "one"))
		if got := storetest.Load(t, s, "e"); got.Version != current.Version {
			t.Errorf("loaded version %s, want %s", got.Version, current.Version)
		}
	}
	write()
	m.begin()
	write()
	m.moveKeys()
	write() // is told to ASK
	m.finish()
	write() // is told that it MOVED
	n = box.await(t, "the state after the move", n, version(current.Version))
	write()
	box.await(t, "a change by the new master", n, version(current.Version))
}

// While the keys of a slot are here and there, a new record waits, and is known not to be written.
func TestTryAgain(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 2)
	s := newStore(t, newClusterClient(t, nodes))
	storetest.Swap(t, s, "e", "", leader(1, "one"))
	m := newMigration(t, nodes, s, "e")
	other := sibling("e")
	m.begin()
	_, err := s.CompareAndSwap(t.Context(), other, "", leader(1, "one"))
	must(t, isFor(err, tenure.ErrNotApplied))
	if !strings.Contains(err.Error(), "TRYAGAIN") {
		t.Errorf("the error is %v, want TRYAGAIN", err)
	}
	m.moveKeys()
	m.finish()
	storetest.Swap(t, s, other, "", leader(1, "one"))
}

// sibling returns another election of the same bucket.
func sibling(election string) string {
	for i := 0; ; i++ {
		if other := fmt.Sprint("other-", i); bucket(other) == bucket(election) {
			return other
		}
	}
}

// With a master down nothing is written, and that is known once the others know. When it is back everything goes on.
func TestClusterDown(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 3, "--appendonly", "yes", "--cluster-node-timeout", "2000")
	s := newStore(t, newClusterClient(t, nodes))
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	box := watchInto(t, s, "e")
	n := box.await(t, "the current state", 0, version(first.Version))
	home := newMigration(t, nodes, s, "e").from
	var down *testserver.Redis
	for _, node := range nodes {
		if node != home {
			down = node
		}
	}
	down.Kill()
	storetest.Eventually(t, "the Cluster is down", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "e", "wrong", leader(2, "two"))
		if err != nil && strings.Contains(err.Error(), "CLUSTERDOWN") {
			must(t, isFor(err, tenure.ErrNotApplied))
			return true
		}
		return false
	})
	down.Start()
	for _, node := range nodes {
		node.Await("CLUSTER INFO", "cluster_state:ok")
	}
	home.Kill()
	n = box.await(t, "the interruption", n, interrupted)
	home.Start()
	box.await(t, "the current state", n, version(first.Version))
	storetest.Eventually(t, "the record can be written", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
		return err == nil || errors.Is(err, tenure.ErrConflict)
	})
}

// The floor of a Prune binds elections on every master.
func TestClusterPrune(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 3)
	s := newStore(t, newClusterClient(t, nodes))
	storetest.Swap(t, s, "e", "", tenure.Record{Token: 7})
	box := watchInto(t, s, "e")
	n := box.await(t, "the current state", 0, func(d delivery) bool { return d.snapshot.Exists() })
	names, err := s.Prune(t.Context(), 0)
	if err != nil || fmt.Sprint(names) != "[e]" {
		t.Fatalf("pruned %v, %v", names, err)
	}
	box.await(t, "the floor", n, func(d delivery) bool { return !d.snapshot.Exists() && d.snapshot.Record.Token == 7 })
	for i := range 30 {
		if got := storetest.Load(t, s, fmt.Sprint("election-", i)).Record.Token; got != 7 {
			t.Fatalf("election %d starts above %d, want 7", i, got)
		}
	}
}

// Candidates in a Cluster go on while slots move.
func TestLeaderOutlivesAMove(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 2)
	open := func() tenure.Store { return newStore(t, newClusterClient(t, nodes)) }
	var m *migration
	scenario.TermOutlives(t, open, func() {
		m = newMigration(t, nodes, newStore(t, newClusterClient(t, nodes)), fleet.Election) // of a record that is there
		m.begin()
	}, func() { m.moveKeys() }, func() { m.finish() })
}

func TestNewRefusesOtherClients(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer ring.Close()
	for _, client := range []redis.UniversalClient{nil, ring} {
		_, err := New(client)
		must(t, isFor(err, tenure.ErrConfig))
	}
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer cluster.Close()
	s, err := New(cluster)
	must(t, err)
	_, err = s.Load(context.Background(), "e")
	if err == nil {
		t.Error("a Cluster without nodes has a record")
	}
	must(t, s.Close())
}
