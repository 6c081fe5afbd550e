package tenureclientgo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/tenure-go/tenure"
	tenureclientgo "github.com/tenure-go/tenure/adapters/clientgo"
	"github.com/tenure-go/tenure/file"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

// Real electors of client-go, with its usual timing, run over a memory store in a bubble, where time is exact.

const (
	name          = "controllers"
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
	// longestPoll is how long an elector that stands by can take between two looks.
	longestPoll = 2200 * retryPeriod / 1000
)

func must[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// seats checks that no two lead at once.
type seats struct {
	mu     sync.Mutex
	leader string
	terms  []string
	faults []string
}

func (s *seats) enter(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader != "" {
		s.faults = append(s.faults, fmt.Sprintf("%s leads beside %s", id, s.leader))
	}
	s.leader, s.terms = id, append(s.terms, id)
}

func (s *seats) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader == id {
		s.leader = ""
	}
}

func (s *seats) expect(t *testing.T, leader string, terms int) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader != leader || len(s.terms) != terms || len(s.faults) != 0 {
		t.Fatalf("leader %q after the terms %q, with the faults %q; want %q and %d terms",
			s.leader, s.terms, s.faults, leader, terms)
	}
}

// elector is a process that client-go elects.
type elector struct {
	*leaderelection.LeaderElector
	lock   *tenureclientgo.Lock
	cancel context.CancelFunc
	done   chan struct{}
}

// elect runs an elector, under a name for the seats that need not be its identity.
func elect(t *testing.T, seats *seats, store tenure.Store, label, identity string) *elector {
	t.Helper()
	lock, err := tenureclientgo.NewLock(store, name, identity)
	e := &elector{lock: must(t, lock, err), done: make(chan struct{})}
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				seats.enter(label)
				<-ctx.Done()
				seats.leave(label)
			},
			OnStoppedLeading: func() {},
		},
	})
	e.LeaderElector = must(t, le, err)
	ctx, cancel := context.WithCancel(t.Context())
	e.cancel = cancel
	go func() {
		defer close(e.done)
		e.Run(ctx)
	}()
	synctest.Wait()
	return e
}

func (e *elector) stop() {
	e.cancel()
	<-e.done
	synctest.Wait()
}

// stand runs a plain candidate.
func stand(t *testing.T, seats *seats, store tenure.Store, id string) (stop func()) {
	t.Helper()
	c, err := tenure.New(store, name, tenure.WithID(id), tenure.WithTTL(leaseDuration))
	must(t, c, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx, func(ctx context.Context, _ tenure.Term) error {
			seats.enter(id)
			<-ctx.Done()
			seats.leave(id)
			return nil
		})
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-done
	}
}

func bubble(t *testing.T, test func(t *testing.T, store *memory.Store, seats *seats)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		test(t, store, &seats{})
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

func load(t *testing.T, store tenure.Store) tenure.Record {
	t.Helper()
	s, err := store.Load(t.Context(), name)
	return must(t, s, err).Record
}

func expectRecord(t *testing.T, store tenure.Store, leader string, token uint64) {
	t.Helper()
	if r := load(t, store); r.Leader != leader || r.Token != token {
		t.Errorf("the record names %q with token %d, want %q with %d", r.Leader, r.Token, leader, token)
	}
}

func TestElectorAcquiresRenewsAndReleases(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		a := elect(t, seats, store, "a", "a")
		seats.expect(t, "a", 1)
		b := elect(t, seats, store, "b", "b")
		time.Sleep(10 * time.Minute)
		seats.expect(t, "a", 1)
		expectRecord(t, store, "a", 1)
		if r := load(t, store); r.TTL != leaseDuration || r.Renewals < 290 || time.Since(r.RenewedAt) > retryPeriod {
			t.Errorf("the record is %+v", r)
		}
		if token, held := a.lock.Token(); token != 1 || !held {
			t.Errorf("its token is %d, %t", token, held)
		}
		if _, held := b.lock.Token(); held || b.GetLeader() != "a" {
			t.Errorf("b takes %q for the leader", b.GetLeader())
		}
		a.stop()
		expectRecord(t, store, "", 1)
		time.Sleep(longestPoll)
		seats.expect(t, "b", 2)
		expectRecord(t, store, "b", 2)
		b.stop()
		expectRecord(t, store, "", 2)
	})
}

func TestElectorIsFollowedAfterACrash(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		frozen := tenuretest.NewFaulty(store)
		a := elect(t, seats, frozen, "a", "a")
		b := elect(t, seats, store, "b", "b")
		time.Sleep(time.Minute)
		frozen.Inject(tenuretest.LoseRequest())
		last := load(t, store).RenewedAt
		for load(t, store).Leader != "b" {
			time.Sleep(100 * time.Millisecond)
		}
		if gap := time.Since(last); gap < leaseDuration || gap > leaseDuration+2*longestPoll {
			t.Errorf("b took over after %v", gap)
		}
		seats.expect(t, "b", 2)
		expectRecord(t, store, "b", 2)
		a.stop()
		b.stop()
	})
}

func TestElectorsAndCandidatesExcludeEachOther(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		crashing := tenuretest.NewFaulty(store)
		stop := stand(t, seats, store, "c")
		e := elect(t, seats, crashing, "e", "e")
		time.Sleep(10 * time.Minute)
		seats.expect(t, "c", 1)
		stop()
		time.Sleep(longestPoll)
		seats.expect(t, "e", 2)
		stop = stand(t, seats, crashing, "c")
		time.Sleep(10 * time.Minute)
		seats.expect(t, "e", 2)
		expectRecord(t, store, "e", 2)
		e.stop()
		seats.expect(t, "c", 3) // which is told at once
		expectRecord(t, store, "c", 3)
		f := elect(t, seats, store, "f", "f")
		crashing.Inject(tenuretest.LoseRequest()) // c crashes
		time.Sleep(leaseDuration + 2*longestPoll)
		seats.expect(t, "f", 4)
		expectRecord(t, store, "f", 4)
		crashing.Heal()
		stop()
		frozen := tenuretest.NewFaulty(store)
		stop = stand(t, seats, frozen, "g")
		f.stop()
		seats.expect(t, "g", 5)
		stop()
	})
}

// A candidate takes over from an elector that crashed, and not before its lease has run out.
func TestCandidateFollowsAnElectorThatCrashed(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		crashing := tenuretest.NewFaulty(store)
		e := elect(t, seats, crashing, "e", "e")
		stop := stand(t, seats, store, "c")
		time.Sleep(time.Minute)
		crashing.Inject(tenuretest.LoseRequest())
		time.Sleep(leaseDuration - retryPeriod - time.Millisecond)
		seats.expect(t, "", 1)
		time.Sleep(retryPeriod + time.Second)
		seats.expect(t, "c", 2)
		expectRecord(t, store, "c", 2)
		e.stop()
		stop()
	})
}

func TestElectorSurvivesLostReplies(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		faulty := tenuretest.NewFaulty(store)
		faulty.Inject(tenuretest.LoseReply().On(tenuretest.OpSwap).Times(1))
		a := elect(t, seats, faulty, "a", "a")
		time.Sleep(longestPoll)
		seats.expect(t, "a", 1)
		expectRecord(t, store, "a", 1) // its own bid, not another one
		for range 20 {
			faulty.Inject(tenuretest.LoseReply().On(tenuretest.OpSwap).Times(1))
			time.Sleep(retryPeriod)
		}
		seats.expect(t, "a", 1)
		expectRecord(t, store, "a", 1)
		faulty.Inject(tenuretest.LoseReply().On(tenuretest.OpSwap).Times(1))
		a.stop()
		expectRecord(t, store, "", 1)
	})
}

// slow is a store whose answers to writes come late.
type slow struct {
	tenure.Store
	mu    sync.Mutex
	delay time.Duration
	cut   bool
}

func (s *slow) set(delay time.Duration, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay, s.cut = delay, cut
}

func (s *slow) get() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delay, s.cut
}

func (s *slow) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if _, cut := s.get(); cut {
		return tenure.Snapshot{}, tenuretest.ErrLost
	}
	return s.Store.Load(ctx, election)
}

func (s *slow) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	delay, cut := s.get()
	if cut {
		return tenure.Snapshot{}, tenuretest.ErrLost
	}
	out, err := s.Store.CompareAndSwap(ctx, election, old, r)
	if delay > 0 {
		time.Sleep(delay) // whatever the context says
		s.set(0, true)
	}
	return out, err
}

// A renewal lands, its answer is late, and then nothing goes through any more: the elector counts from the answer.
func TestLateAnswersDoNotMakeTwoLeaders(t *testing.T) {
	for _, delay := range []time.Duration{2500 * time.Millisecond, 4900 * time.Millisecond, 9900 * time.Millisecond} {
		bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
			away := &slow{Store: store}
			a := elect(t, seats, away, "a", "a")
			stop := stand(t, seats, store, "b")
			time.Sleep(time.Minute)
			away.set(delay, false)
			time.Sleep(time.Minute)
			seats.expect(t, "b", 2)
			a.stop()
			stop()
		})
	}
}

func TestOneIdentityTwice(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		first := elect(t, seats, store, "first", "same")
		second := elect(t, seats, store, "second", "same")
		time.Sleep(10 * time.Minute)
		seats.expect(t, "first", 1)
		if second.IsLeader() {
			t.Error("the second takes the first one's name for its own")
		}
		first.stop()
		time.Sleep(longestPoll)
		seats.expect(t, "second", 2)
		second.stop()
	})
}

func newLock(t *testing.T, store tenure.Store, identity string) *tenureclientgo.Lock {
	t.Helper()
	l, err := tenureclientgo.NewLock(store, name, identity)
	return must(t, l, err)
}

// want is what an elector writes to hold the seat; the empty identity releases it.
func want(identity string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: identity, LeaseDurationSeconds: 15}
}

func get(t *testing.T, l *tenureclientgo.Lock) (*resourcelock.LeaderElectionRecord, []byte) {
	t.Helper()
	r, mark, err := l.Get(t.Context())
	return must(t, r, err), mark
}

// take has a lock win the seat.
func take(t *testing.T, l *tenureclientgo.Lock) {
	t.Helper()
	if _, _, err := l.Get(t.Context()); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	if err := l.Update(t.Context(), want(l.Identity())); err != nil {
		t.Fatal(err)
	}
}

func expectConflict(t *testing.T, err error) {
	t.Helper()
	if !apierrors.IsConflict(err) || !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("the error is %v, not a conflict", err)
	}
}

func TestLockWritesOnlyWhatFollowsFromWhatItSaw(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, _ *seats) {
		a, b := newLock(t, store, "a"), newLock(t, store, "b")
		expectConflict(t, a.Update(t.Context(), want("a")))
		expectConflict(t, a.Create(t.Context(), want("a")))
		for _, l := range []*tenureclientgo.Lock{a, b} {
			if _, _, err := l.Get(t.Context()); !apierrors.IsNotFound(err) {
				t.Errorf("of no record Get says %v", err)
			}
		}
		if err := a.Create(t.Context(), want("a")); err != nil {
			t.Fatal(err)
		}
		if err := a.Create(t.Context(), want("a")); !apierrors.IsAlreadyExists(err) {
			t.Errorf("a second Create says %v", err)
		}
		expectConflict(t, b.Create(t.Context(), want("b")))
		get(t, b)
		expectConflict(t, b.Update(t.Context(), want("b"))) // held
		if err := b.Update(t.Context(), want("")); !errors.Is(err, tenure.ErrNotLeader) || apierrors.IsConflict(err) {
			t.Errorf("the release of another's seat says %v", err)
		}
		if err := b.Update(t.Context(), want("c")); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("a write for another says %v", err)
		}
		expectRecord(t, store, "a", 1)
		time.Sleep(leaseDuration)
		if err := b.Update(t.Context(), want("b")); err != nil {
			t.Fatal(err)
		}
		expectConflict(t, a.Update(t.Context(), want("a")))
		expectConflict(t, a.Update(t.Context(), want("")))
		get(t, a)
		if err := a.Update(t.Context(), want("")); err == nil {
			t.Error("a released b's seat")
		}
		expectRecord(t, store, "b", 2)
		for _, seconds := range []int{0, 2, 86401} {
			r := want("b")
			r.LeaseDurationSeconds = seconds
			if err := b.Update(t.Context(), r); !errors.Is(err, tenure.ErrConfig) {
				t.Errorf("a lease of %d s: %v", seconds, err)
			}
		}
		// Another duration is another term, so that those who wait begin their count anew.
		r := want("b")
		r.LeaseDurationSeconds = 30
		if err := b.Update(t.Context(), r); err != nil {
			t.Error(err)
		}
		expectRecord(t, store, "b", 3)
	})
}

// Requests survive renewals, and do not make those who wait count anew.
func TestRequestsAreKeptAndDoNotCount(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, _ *seats) {
		a, b := newLock(t, store, "a"), newLock(t, store, "b")
		take(t, a)
		_, before := get(t, b)
		_, err := tenure.Ask(t.Context(), store, name, tenure.Request{Token: 1, To: "b", By: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if _, after := get(t, b); !bytes.Equal(before, after) {
			t.Errorf("a request changed the mark from %s to %s", before, after)
		}
		get(t, a)
		if err := a.Update(t.Context(), want("a")); err != nil {
			t.Fatal(err)
		}
		if r := load(t, store); r.Request == nil || r.Request.To != "b" {
			t.Error("the renewal dropped the request")
		}
		if _, after := get(t, b); bytes.Equal(before, after) {
			t.Error("a renewal did not change the mark")
		}
		if err := a.Update(t.Context(), want("")); err != nil {
			t.Fatal(err)
		}
		c := newLock(t, store, "c")
		if r, _ := get(t, c); r.HolderIdentity != "b" || r.LeaseDurationSeconds != 15 {
			t.Errorf("to others the seat that is kept for b looks like %+v", r)
		}
		expectConflict(t, c.Update(t.Context(), want("c")))
		if r, _ := get(t, b); r.HolderIdentity != "" {
			t.Errorf("to b the seat that is kept for it looks like %+v", r)
		}
		take(t, b)
		expectRecord(t, store, "b", 2)
	})
}

func TestPausedSeatsAreLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		if _, err := tenure.SetPause(t.Context(), store, name, tenure.Pause{By: "test"}); err != nil {
			t.Fatal(err)
		}
		e := elect(t, seats, store, "e", "e")
		time.Sleep(72 * time.Hour)
		seats.expect(t, "", 0)
		if _, err := tenure.LiftPause(t.Context(), store, name); err != nil {
			t.Fatal(err)
		}
		time.Sleep(longestPoll)
		seats.expect(t, "e", 1)
		e.stop()
	})
}

// A record that vanished counts as held: its leader may still trust itself. Tokens rise all the same.
func TestLostRecordsCountAsHeld(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, seats *seats) {
		frozen := tenuretest.NewFaulty(store)
		a := elect(t, seats, frozen, "a", "a")
		b := elect(t, seats, store, "b", "b")
		time.Sleep(time.Minute)
		frozen.Inject(tenuretest.LoseRequest())
		store.Delete(name)
		deleted := time.Now()
		for load(t, store).Leader != "b" {
			time.Sleep(100 * time.Millisecond)
		}
		if gap := time.Since(deleted); gap < leaseDuration {
			t.Errorf("b took over after %v", gap)
		}
		seats.expect(t, "b", 2)
		expectRecord(t, store, "b", 2)
		a.stop()
		b.stop()
	})
}

func TestElectorOverFiles(t *testing.T) {
	store, err := file.Open(t.TempDir())
	must(t, store, err)
	defer store.Close()
	for token := uint64(1); token <= 2; token++ {
		lock, err := tenureclientgo.NewLock(store, name, fmt.Sprint("process ", token), tenureclientgo.WithCallTimeout(time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		tokens := make(chan uint64, 1)
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: must(t, lock, err), LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second,
			RetryPeriod: 100 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {
					token, _ := lock.Token()
					tokens <- token
					cancel()
				},
				OnStoppedLeading: func() {},
			},
		})
		if got := <-tokens; got != token {
			t.Errorf("the token is %d, want %d", got, token)
		}
		expectRecord(t, store, "", token)
	}
}

func TestNewLockRefusesConfiguration(t *testing.T) {
	store := memory.New()
	for what, make := range map[string]func() (*tenureclientgo.Lock, error){
		"no store":    func() (*tenureclientgo.Lock, error) { return tenureclientgo.NewLock(nil, name, "a") },
		"no election": func() (*tenureclientgo.Lock, error) { return tenureclientgo.NewLock(store, "", "a") },
		"no identity": func() (*tenureclientgo.Lock, error) { return tenureclientgo.NewLock(store, name, "") },
		"a bad one":   func() (*tenureclientgo.Lock, error) { return tenureclientgo.NewLock(store, name, "a\n") },
		"no time": func() (*tenureclientgo.Lock, error) {
			return tenureclientgo.NewLock(store, name, "a", tenureclientgo.WithCallTimeout(0))
		},
	} {
		if _, err := make(); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := tenureclientgo.NewRunner(nil, nil); !errors.Is(err, tenure.ErrConfig) {
		t.Error(err)
	}
}

func TestRunnerRunsWorkInEachTerm(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store, _ *seats) {
		c, err := tenure.New(store, name)
		must(t, c, err)
		tokens := make(chan uint64, 2)
		r, err := tenureclientgo.NewRunner(c, func(ctx context.Context, term tenure.Term) error {
			tokens <- term.Token
			<-ctx.Done()
			return ctx.Err()
		})
		must(t, r, err)
		if r.NeedLeaderElection() {
			t.Error("a manager would not start it")
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Start(ctx) }()
		synctest.Wait()
		if err := c.Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if first, second := <-tokens, <-tokens; first != 1 || second != 2 {
			t.Errorf("it ran in the terms %d and %d", first, second)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Start returned %v", err)
		}
		expectRecord(t, store, "", 2)
	})
}
