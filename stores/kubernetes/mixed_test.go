package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

// The lease of electors and candidates that have to be followed: whole seconds, long enough for a busy machine.
const lease = 4 * time.Second

// turn is what is certain of one leadership: it stood at both instants, and so in between.
type turn struct {
	who        string
	begin, end time.Time
	token      uint64 // zero of an elector
}

// mixed is candidates of tenure and electors of client-go on one Lease.
type mixed struct {
	t      *testing.T
	store  *Store
	leases coordinationclient.LeasesGetter
	begun  chan turn

	mu    sync.Mutex
	turns []*turn
}

const mixedElection = "mixed"

func newMixed(t *testing.T) *mixed {
	t.Helper()
	k := shared.Server(t)
	s := newStore(t)
	return &mixed{t: t, store: s, leases: clientFor(t, k.Addr), begun: make(chan turn, 1000)}
}

// lead notes a leadership until ctx ends or, of a term, is not valid any more.
func (m *mixed) lead(ctx context.Context, who string, token uint64, valid func() bool) {
	now := time.Now()
	if !valid() {
		return
	}
	turned := &turn{who: who, token: token, begin: now, end: now}
	m.mu.Lock()
	m.turns = append(m.turns, turned)
	m.mu.Unlock()
	m.begun <- *turned
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		if !valid() {
			break
		}
		m.mu.Lock()
		turned.end = now
		m.mu.Unlock()
		<-look.C
	}
	<-ctx.Done()
}

// stand lets a candidate run. What it returns stops it, which gives its seat back, and may be called again.
func (m *mixed) stand(id string, ttl time.Duration) (stop func()) {
	m.t.Helper()
	c, err := tenure.New(m.store, mixedElection, tenure.WithID(id), tenure.WithTTL(ttl))
	if err != nil {
		m.t.Fatal(err)
	}
	return m.run(func(ctx context.Context) {
		err := c.Run(ctx, func(ctx context.Context, term tenure.Term) error {
			m.lead(ctx, id, term.Token, term.Valid)
			<-ctx.Done()
			return nil
		})
		if ctx.Err() == nil {
			m.t.Errorf("%s: Run returned %v", id, err)
		}
	})
}

// elect lets an elector of client-go run, which releases its Lease at the end only if it is told so.
func (m *mixed) elect(id string, duration time.Duration, release bool) (stop func()) {
	m.t.Helper()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Name: mixedElection, Namespace: m.store.namespace}, Client: m.leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: id},
		},
		LeaseDuration: duration, RenewDeadline: duration * 3 / 4, RetryPeriod: 100 * time.Millisecond,
		ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { m.lead(ctx, id, 0, func() bool { return ctx.Err() == nil }) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return m.run(func(ctx context.Context) {
		for ctx.Err() == nil {
			elector.Run(ctx)
		}
	})
}

func (m *mixed) run(f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	m.t.Cleanup(stop)
	return stop
}

// next waits for the next leadership.
func (m *mixed) next() turn {
	m.t.Helper()
	select {
	case next := <-m.begun:
		return next
	case <-time.After(time.Minute):
		m.t.Fatal("nobody has begun to lead for a minute")
	}
	return turn{}
}

// none fails the test if a leadership begins before the Lease of who leads has been renewed for as long as d.
func (m *mixed) none(d time.Duration) {
	m.t.Helper()
	from := storetest.Load(m.t, m.store, mixedElection).Record
	storetest.Eventually(m.t, "the leader has renewed for a while", func() bool {
		return storetest.Load(m.t, m.store, mixedElection).Record.RenewedAt.Sub(from.RenewedAt) >= d
	})
	select {
	case next := <-m.begun:
		m.t.Fatalf("%s leads beside %s", next.who, from.Leader)
	default:
	}
}

// check fails the test if two led at once, or a token did not rise.
func (m *mixed) check() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(m.turns, func(a, b *turn) int { return a.begin.Compare(b.begin) })
	var token uint64
	for i, now := range m.turns {
		if i > 0 && !m.turns[i-1].end.Before(now.begin) {
			m.t.Errorf("%s led until %v, and %s from %v", m.turns[i-1].who, m.turns[i-1].end, now.who, now.begin)
		}
		if now.token != 0 && now.token <= token {
			m.t.Errorf("%s led with the token %d after %d", now.who, now.token, token)
		}
		token = max(token, now.token)
	}
}

// A candidate stands by for as long as an elector renews, and follows when that has been silent for its lease.
func TestElectorIsFollowed(t *testing.T) {
	m := newMixed(t)
	kill := m.elect("elector", lease, false)
	m.next()
	m.stand("candidate", lease)
	m.none(lease * 3 / 2)
	held := storetest.Load(t, m.store, mixedElection)
	kill()
	killed := storetest.Load(t, m.store, mixedElection).Record
	silent := time.Now()
	next := m.next()
	if next.who != "candidate" || next.token <= held.Record.Token {
		t.Errorf("%s leads with the token %d after %d", next.who, next.token, held.Record.Token)
	}
	if killed.Leader != "elector" {
		t.Errorf("the record names %q", killed.Leader)
	}
	// The candidate counts from when it saw the last renewal, which was a retry period and its jitter before at most.
	if waited := next.begin.Sub(silent); waited < lease-2*time.Second {
		t.Errorf("it was followed after %v, with a lease of %v", waited, lease)
	}
	m.check()
}

// An elector stands by for as long as a candidate renews, and follows when that is silent.
func TestCandidateIsFollowed(t *testing.T) {
	m := newMixed(t)
	s := m.store
	ctx, kill := context.WithCancel(t.Context())
	silent := &muted{Store: s, ended: ctx}
	c, err := tenure.New(silent, mixedElection, tenure.WithID("candidate"), tenure.WithTTL(lease))
	if err != nil {
		t.Fatal(err)
	}
	m.run(func(ctx context.Context) {
		_ = c.Run(ctx, func(ctx context.Context, term tenure.Term) error {
			m.lead(ctx, "candidate", term.Token, term.Valid)
			return nil
		})
	})
	m.next()
	m.elect("elector", lease, true)
	m.none(lease * 3 / 2)
	kill()
	if next := m.next(); next.who != "elector" {
		t.Errorf("%s leads", next.who)
	}
	m.check()
}

// muted is a store that cannot be reached once a context has ended.
type muted struct {
	*Store
	ended context.Context //nolint:containedctx // it is a signal
}

func (m *muted) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := m.ended.Err(); err != nil {
		return tenure.Snapshot{}, fmt.Errorf("cut off: %w", err)
	}
	return m.Store.CompareAndSwap(ctx, election, old, record)
}

// Whoever releases the seat is followed at once, by whichever kind, though the lease is far from over; and every
// candidate's token is above all that were there before.
func TestSeatGoesFromKindToKind(t *testing.T) {
	m := newMixed(t)
	kinds := []func(id string) func(){
		func(id string) func() { return m.stand(id, time.Hour) },
		func(id string) func() { return m.elect(id, time.Hour, true) },
	}
	stop := m.stand("0", time.Hour)
	m.next()
	var tokens []uint64
	for i, kind := range []int{1, 1, 0, 1, 0, 0, 1, 1, 1, 0} {
		successor := kinds[kind](fmt.Sprint(i + 1))
		stop()
		next := m.next()
		if next.who != fmt.Sprint(i+1) {
			t.Fatalf("%s leads, want %d", next.who, i+1)
		}
		r := storetest.Load(t, m.store, mixedElection).Record
		tokens = append(tokens, r.Token)
		stop = successor
	}
	if !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != len(tokens) {
		t.Errorf("the tokens are %v", tokens)
	}
	m.check()
}

// Both kinds come and go, are silent and return, and never do two lead.
func TestMixedFleet(t *testing.T) {
	m := newMixed(t)
	const short = 2 * time.Second
	stops := make(map[string]func())
	start := func(id string) {
		switch id[0] {
		case 'c':
			stops[id] = m.stand(id, short)
		case 'e':
			stops[id] = m.elect(id, short, true)
		default:
			stops[id] = m.elect(id, short, false) // leaves without a word
		}
	}
	for _, id := range []string{"candidate-1", "elector-1", "silent-1", "silent-2"} {
		start(id)
	}
	led := make(map[string]int)
	leader := m.next()
	for range 12 {
		led[leader.who]++
		stops[leader.who]()
		before := leader.who
		leader = m.next()
		start(before) // not earlier: a candidate is told first, and would win every time
	}
	t.Log("led:", led)
	for _, stop := range stops {
		stop()
	}
	m.check()
}

// A paused election is vacant for tenure, and held for electors, until it goes on.
func TestPauseKeepsElectorsAway(t *testing.T) {
	m := newMixed(t)
	if _, err := tenure.SetPause(t.Context(), m.store, mixedElection, tenure.Pause{By: "operator"}); err != nil {
		t.Fatal(err)
	}
	m.elect("elector", lease, true)
	select {
	case next := <-m.begun:
		t.Fatalf("%s leads in a paused election", next.who)
	case <-time.After(3 * releasedSeconds * time.Second): // an elector tells nobody that it has not begun
	}
	if _, err := tenure.LiftPause(t.Context(), m.store, mixedElection); err != nil {
		t.Fatal(err)
	}
	m.next()
}

// What is asked of an elector changes nothing for it, and nothing for those who count its lease.
func TestRequestToAnElector(t *testing.T) {
	m := newMixed(t)
	kill := m.elect("elector", time.Hour, false)
	m.next()
	kill() // so that it writes no more
	before := storetest.Load(t, m.store, mixedElection)
	spec := *m.lease().DeepCopy()
	request := tenure.Request{To: "candidate", By: "operator"}
	if _, err := tenure.Ask(t.Context(), m.store, mixedElection, request); err != nil {
		t.Fatal(err)
	}
	after := storetest.Load(t, m.store, mixedElection)
	if after.Record.Request == nil || after.Version == before.Version {
		t.Errorf("the request is not in the record: %+v", after.Record)
	}
	a, b := after.Record, before.Record
	if a.Session != b.Session || a.Token != b.Token || a.Renewals != b.Renewals {
		t.Errorf("the mark has changed from %+v to %+v", b, a)
	}
	if sealOf(m.lease().Spec) != sealOf(spec.Spec) {
		t.Errorf("the spec has changed from %+v to %+v", spec.Spec, m.lease().Spec)
	}
	m.elect("elector", time.Hour, true) // by the same name, which client-go takes for itself
	storetest.Eventually(t, "the elector renews", func() bool {
		return storetest.Load(t, m.store, mixedElection).Record.Renewals > a.Renewals
	})
	renewed := storetest.Load(t, m.store, mixedElection).Record
	if renewed.Token != a.Token || renewed.Session != a.Session || renewed.Request == nil {
		t.Errorf("the renewed term is %+v, of %+v", renewed, a)
	}
}

func (m *mixed) lease() *coordinationv1.Lease {
	m.t.Helper()
	found, err := m.leases.Leases(m.store.namespace).Get(m.t.Context(), mixedElection, metav1.GetOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	return found
}

// Whoever drops the annotation leaves the count of transitions, which tells the token.
func TestAnnotationIsLost(t *testing.T) {
	m := newMixed(t)
	held := storetest.Swap(t, m.store, mixedElection, "", storetest.Held(41, "leader"))
	stripped := m.lease()
	stripped.Annotations = nil
	if _, err := m.leases.Leases(m.store.namespace).Update(t.Context(), stripped, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	after := storetest.Load(t, m.store, mixedElection)
	if after.Record.Token < held.Record.Token || after.Record.Session == held.Record.Session || after.Record.Vacant() {
		t.Errorf("without its annotation the record is %+v", after.Record)
	}
}
