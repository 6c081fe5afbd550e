package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

// heard collects what a watch delivers.
type heard struct {
	mu        sync.Mutex
	snapshots []tenure.Snapshot
	errors    []error
}

func (h *heard) deliver(snapshot tenure.Snapshot, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.errors = append(h.errors, err)
		return
	}
	h.snapshots = append(h.snapshots, snapshot)
}

func (h *heard) last() tenure.Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.snapshots) == 0 {
		return tenure.Snapshot{}
	}
	return h.snapshots[len(h.snapshots)-1]
}

func (h *heard) failures() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.errors)
}

func watchElection(t testing.TB, s *Store, election string) *heard {
	t.Helper()
	h := &heard{}
	stop, err := s.Watch(t.Context(), election, h.deliver)
	must(t, err)
	t.Cleanup(stop)
	return h
}

// awaitVersion waits until the watch has delivered a state, and returns how long that took.
func awaitVersion(t testing.TB, h *heard, version tenure.Version) time.Duration {
	t.Helper()
	began := time.Now()
	storetest.Eventually(t, "a watch delivers the state", func() bool { return h.last().Version == version })
	return time.Since(began)
}

// unasked has a store look for nothing of its own accord: what it delivers it was told of.
var unasked = option(func(c *config) { c.poll, c.safety = time.Hour, time.Hour })

// looksSince returns how many statements the watches have taken since they had taken so many.
func looksSince(s *Store, since int) int { return int(s.hub.looks.Load()) - since }

func TestChangesArePushedAndRenewalsAreNot(t *testing.T) {
	url := server(t)
	writer, s := openStore(t, url), openStore(t, url, unasked)
	record := held(1)
	current := storetest.Swap(t, writer, "billing", "", record)
	h := watchElection(t, s, "billing")
	awaitVersion(t, h, current.Version)
	storetest.Eventually(t, "notifications arrive", s.hub.hears)

	before := looksSince(s, 0)
	for range 5 {
		record.Renewals++
		current = storetest.Swap(t, writer, "billing", current.Version, record)
	}
	record.Request = &tenure.Request{Token: 1}
	current = storetest.Swap(t, writer, "billing", current.Version, record) // pushed, and all notifications are in order
	awaitVersion(t, h, current.Version)
	if n := looksSince(s, before); n > 2 {
		t.Errorf("five renewals and a request were looked up %d times, want once", n)
	}
	for _, change := range []func(*tenure.Record){
		func(r *tenure.Record) { r.Leader, r.Session, r.Renewals = "", "", r.Renewals+1 },
		func(r *tenure.Record) { r.Reserved, r.Renewals = "node-c", r.Renewals+1 },
		func(r *tenure.Record) { r.Token, r.Leader, r.Session, r.Reserved = r.Token+1, "node-b", "77aa", "" },
		func(r *tenure.Record) { r.Pause, r.Renewals = &tenure.Pause{}, r.Renewals+1 },
	} {
		change(&record)
		current = storetest.Swap(t, writer, "billing", current.Version, record)
		awaitVersion(t, h, current.Version)
	}
}

func TestRenewalsArePushedIfAsked(t *testing.T) {
	url := server(t)
	options := []Option{WithPushedRenewals(true), unasked}
	writer, s := openStore(t, url, options...), openStore(t, url, options...)
	record := held(1)
	current := storetest.Swap(t, writer, "billing", "", record)
	h := watchElection(t, s, "billing")
	awaitVersion(t, h, current.Version)
	for range 5 {
		record.Renewals++
		current = storetest.Swap(t, writer, "billing", current.Version, record)
		awaitVersion(t, h, current.Version)
	}
}

// Many elections of a process cost one statement per poll.
func TestOnePollForAllElections(t *testing.T) {
	url := server(t)
	writer, s := openStore(t, url), openStore(t, url, unasked)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	current := map[string]tenure.Snapshot{}
	watches := map[string]*heard{}
	for _, name := range names {
		current[name] = storetest.Swap(t, writer, name, "", held(1))
		watches[name] = watchElection(t, s, name)
		awaitVersion(t, watches[name], current[name].Version)
	}
	storetest.Eventually(t, "notifications arrive", s.hub.hears)
	record := held(1)
	record.Renewals++
	for _, name := range names {
		current[name] = storetest.Swap(t, writer, name, current[name].Version, record)
	}
	before := looksSince(s, 0)
	s.hub.mu.Lock()
	s.hub.pollAt = time.Now()
	s.hub.nudge()
	s.hub.mu.Unlock()
	for _, name := range names {
		awaitVersion(t, watches[name], current[name].Version)
	}
	if n := looksSince(s, before); n != 1 {
		t.Errorf("%d elections took %d statements, want 1", len(names), n)
	}
}

// A leader does not look for its own renewals: whoever else writes tells it.
func TestLeaderDoesNotPoll(t *testing.T) {
	url := server(t)
	s := openStore(t, url, WithPollInterval(20*time.Millisecond))
	record := held(1)
	current := storetest.Swap(t, s, "billing", "", record)
	h := watchElection(t, s, "billing")
	awaitVersion(t, h, current.Version)
	storetest.Eventually(t, "notifications arrive", s.hub.hears)
	record.Renewals++
	current = storetest.Swap(t, s, "billing", current.Version, record)
	awaitVersion(t, h, current.Version)
	follower := openStore(t, url, WithPollInterval(20*time.Millisecond))
	watchElection(t, follower, "billing")
	tenPolls := func() {
		before := looksSince(follower, 0)
		storetest.Eventually(t, "a follower polls", func() bool { return looksSince(follower, before) >= 10 })
	}
	tenPolls() // by then a poll of the leader that was due before the renewal is over
	before := looksSince(s, 0)
	tenPolls()
	if n := looksSince(s, before); n > 0 {
		t.Errorf("the leader looked %d times while a follower polled ten times", n)
	}
}

// What a lost connection has missed is told after it.
func TestWatchSurvivesItsConnection(t *testing.T) {
	url := server(t)
	proxy, through := openProxy(t, url)
	writer, s := openStore(t, url), openStore(t, through, unasked)
	current := storetest.Swap(t, writer, "billing", "", held(1))
	h := watchElection(t, s, "billing")
	awaitVersion(t, h, current.Version)
	proxy.Refuse(true)
	proxy.Cut()
	storetest.Eventually(t, "the watch tells of the interruption", func() bool { return h.failures() > 0 })
	current = storetest.Swap(t, writer, "billing", current.Version, held(2))
	proxy.Refuse(false)
	awaitVersion(t, h, current.Version)
	if n := h.failures(); n != 1 {
		t.Errorf("the watch told of %d interruptions, want one", n)
	}
	current = storetest.Swap(t, writer, "billing", current.Version, held(3))
	awaitVersion(t, h, current.Version)
}

// A change between the first look and the moment from which notifications arrive is found by another look.
func TestChangeBeforeListening(t *testing.T) {
	s := openStore(t, server(t), unasked)
	current := storetest.Swap(t, s, "billing", "", held(1))
	heard, hub := &heard{}, s.hub
	hub.elections["billing"] = &watched{watches: []*watch{{deliver: heard.deliver, behind: true}}}
	conn, err := s.connect(t.Context())
	must(t, err)
	defer conn.Close(context.Background())
	hub.restart()
	must(t, hub.look(t.Context(), conn))
	current = storetest.Swap(t, s, "billing", current.Version, held(2))
	must(t, hub.subscribe(t.Context(), conn))
	must(t, hub.look(t.Context(), conn))
	if got := heard.last(); got.Version != current.Version {
		t.Errorf("after the look that follows on listening the watch is at %+v", got)
	}
}

// A connection that is open and dead is found by the next look.
func TestWatchNoticesADeadConnection(t *testing.T) {
	t.Parallel()
	url := server(t)
	proxy, through := openProxy(t, url)
	writer, s := openStore(t, url), openStore(t, through, WithPollInterval(50*time.Millisecond))
	current := storetest.Swap(t, writer, "billing", "", held(1))
	h := watchElection(t, s, "billing")
	awaitVersion(t, h, current.Version)
	storetest.Eventually(t, "notifications arrive", s.hub.hears)
	proxy.Hold()
	storetest.Eventually(t, "the watch tells of the interruption", func() bool { return h.failures() > 0 })
	current = storetest.Swap(t, writer, "billing", current.Version, held(2))
	proxy.Cut()
	proxy.Release()
	awaitVersion(t, h, current.Version)
}

// Nobody needs a right to notify. What strangers send is at most a reason to look.
func TestForgedNotificationsTellNothing(t *testing.T) {
	url := server(t)
	s := openStore(t, url, unasked)
	current := storetest.Swap(t, s, "billing", "", held(1))
	h := watchElection(t, s, "billing")
	awaitVersion(t, h, current.Version)
	storetest.Eventually(t, "notifications arrive", s.hub.hears)
	for _, payload := range []string{"", "\n", "nothing", "billing", `{"token":99}`, "billing"} {
		exec(t, s.pool, `SELECT pg_notify($1::text, $2::text)`, s.layout.channel, payload)
	}
	next := storetest.Swap(t, s, "billing", current.Version, held(2))
	awaitVersion(t, h, next.Version)
	if n := len(h.snapshots); n != 2 {
		t.Errorf("%d states were delivered, want 2", n)
	}
}

func TestCloseTellsTheWatches(t *testing.T) {
	s := openStore(t, server(t))
	h := watchElection(t, s, "billing")
	storetest.Eventually(t, "the watch delivers", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.snapshots) > 0
	})
	must(t, s.Close())
	if n := h.failures(); n != 1 {
		t.Errorf("Close told the watch %d times", n)
	}
	storetest.Eventually(t, "nobody listens any more", func() bool {
		return scalar[int](t, s.pool, `SELECT count(*)::int FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_stat_activity%'`) == 0
	})
}

// A record cannot be created under a floor that is about to rise.
func TestCreateWaitsForPrune(t *testing.T) {
	url := server(t)
	s := openStore(t, url)
	vacant := tenure.Record{Token: 7, TTL: time.Second}
	storetest.Swap(t, s, "billing", "", vacant)
	tx, err := s.pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.Background())
	names, err := s.layout.prune(t.Context(), tx, 0)
	must(t, err)
	if len(names) != 1 {
		t.Fatalf("pruned %q", names)
	}
	created := make(chan error, 1)
	go func() {
		_, err := s.CompareAndSwap(context.Background(), "billing", "", held(1))
		created <- err
	}()
	storetest.Eventually(t, "the create waits", func() bool {
		return scalar[int](t, s.pool, `SELECT count(*)::int FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	})
	must(t, tx.Commit(t.Context()))
	if err := <-created; !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("a create under the new floor: %v, want ErrConflict", err)
	}
	if got := storetest.Load(t, s, "billing"); got.Exists() || got.Record.Token != 7 {
		t.Errorf("after Prune: %+v, want no record and the floor 7", got)
	}
}

func TestPruneLeavesWhatIsLocked(t *testing.T) {
	s := openStore(t, server(t))
	storetest.Swap(t, s, "billing", "", tenure.Record{Token: 7, TTL: time.Second})
	tx, err := s.pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.Background())
	exec(t, tx, `SELECT FROM tenure WHERE election = 'billing' FOR KEY SHARE`)
	names, err := s.Prune(t.Context(), 0)
	must(t, err)
	if len(names) != 0 || !storetest.Load(t, s, "billing").Exists() {
		t.Errorf("pruned %q, which a transaction uses", names)
	}
}
