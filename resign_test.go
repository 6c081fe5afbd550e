package tenure_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// L1: where the store pushes, a vacancy is filled at once; in a bubble that takes no time at all.
func TestL1HandOverByPush(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, da := candidate(t, store, "a")
		b, _ := candidate(t, store, "b")
		lead := make(chan string, 8)
		work := func(ctx context.Context, term tenure.Term) error {
			lead <- term.Leader
			return untilEnded(ctx, term)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		go func() { done <- a.Run(ctx, work) }()
		synctest.Wait()
		go func() { done <- b.Run(ctx, work) }()
		synctest.Wait()
		began := time.Now()
		if err := a.Resign(context.Background()); err != nil {
			t.Fatalf("Resign: %v", err)
		}
		synctest.Wait()
		if first, second := <-lead, <-lead; first != "a" || second != "b" || time.Since(began) != 0 {
			t.Errorf("%s, then %s led, after %v", first, second, time.Since(began))
		}
		if r := record(t, store); r.Token != 2 {
			t.Errorf("token = %d", r.Token)
		}
		if da.count(tenure.EventReleased) != 1 {
			t.Error("no release was reported")
		}
		cancel()
		<-done
		<-done
	})
}

// Without push the bound is one poll interval.
func TestL1HandOverByPoll(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, &away{Store: store}, "a")
		b, _ := start(t, &away{Store: store}, "b")
		a.Idle()
		if err := a.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl/5 + time.Millisecond)
		expectLeader(t, b, a)
		stop(t, a, b)
	})
}

// S8: leadership that was handed out has no end to wait for, so the drain passes first.
func TestS8HandedOutLeadershipTakesTheDrain(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		for _, asked := range []bool{false, true} {
			c, _ := start(t, store, "a")
			if asked {
				expectLeader(t, c)
			}
			began := time.Now()
			if err := c.Resign(context.Background()); err != nil {
				t.Fatalf("Resign: %v", err)
			}
			want := time.Duration(0)
			if asked {
				want = drain
			}
			if took := time.Since(began); took != want {
				t.Errorf("asked %v: the release took %v, want %v", asked, took, want)
			}
			stop(t, c)
		}
	})
}

func TestIdleCutsTheDrainShort(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a")
		expectLeader(t, c)
		began := time.Now()
		time.AfterFunc(drain/4, c.Idle)
		if err := c.Resign(context.Background()); err != nil {
			t.Fatalf("Resign: %v", err)
		}
		if took := time.Since(began); took != drain/4 {
			t.Errorf("the release took %v, want %v", took, drain/4)
		}
		stop(t, c)
	})
}

// After a resignation others go first, for one TTL.
func TestResignedCandidateStandsAgain(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a")
		if err := c.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl - time.Millisecond)
		expectLeader(t, nil, c)
		time.Sleep(2 * time.Millisecond)
		expectLeader(t, c)
		stop(t, c)
	})
}

func TestTransferKeepsTheSeat(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		b, _ := start(t, store, "b")
		c, _ := start(t, store, "c")
		from := a
		for _, to := range []*tenure.Candidate{c, b, a, c} {
			if err := from.TransferTo(context.Background(), to.ID()); err != nil {
				t.Errorf("TransferTo: %v", err)
			}
			synctest.Wait()
			expectLeader(t, to)
			from = to
		}
		if err := c.TransferTo(context.Background(), "nobody"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait - time.Millisecond)
		expectLeader(t, nil, a, b, c)
		time.Sleep(2 * time.Millisecond)
		if r := record(t, store); r.Vacant() || r.Reserved != "" {
			t.Errorf("a seat kept for nobody was not taken after a TTL: %+v", r)
		}
		stop(t, a, b, c)
	})
}

func TestTransferRefusals(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		for _, to := range []string{"", "a", "b\n"} {
			if err := a.TransferTo(context.Background(), to); !errors.Is(err, tenure.ErrConfig) {
				t.Errorf("TransferTo(%q) = %v", to, err)
			}
		}
		expectLeader(t, a)
		stop(t, a)
		if err := a.Resign(context.Background()); !errors.Is(err, tenure.ErrNotLeader) {
			t.Errorf("Resign = %v", err)
		}
	})
}

// Story 20: a context that has ended already must not keep the seat from being released.
func TestStory20StopWithAnEndedContext(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a")
		expectLeader(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Stop(ctx); err != nil {
			t.Errorf("Stop = %v", err)
		}
		if r := record(t, store); !r.Vacant() {
			t.Errorf("the seat was not released: %+v", r)
		}
	})
}

func TestStartEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, d := candidate(t, store, "a")
		ctx, cancel := context.WithCancel(t.Context())
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if r := record(t, store); !r.Vacant() || d.count(tenure.EventStopped) != 1 {
			t.Errorf("still there: %+v", r)
		}
		stop(t, c)
	})
}

func TestReleaseOnStopCanBeOff(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a", tenure.WithReleaseOnStop(false))
		stop(t, c)
		if r := record(t, store); r.Leader != "a" {
			t.Errorf("the seat was released: %+v", r)
		}
	})
}

// S11: after Stop nothing is written, and no observer is called.
func TestS11NothingRunsAfterStop(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		c, d := start(t, store, "a", tenure.WithHealthCheck(func(context.Context) error { return nil }, 0))
		time.Sleep(time.Minute)
		stop(t, c)
		calls, events := store.calls.Load(), len(d.events)
		time.Sleep(time.Hour)
		if store.calls.Load() != calls || len(d.events) != events {
			t.Error("something went on after Stop")
		}
		stop(t, c) // of a candidate that does not run: nothing to do
	})
}

// followed is a store that counts the watches that have not been stopped.
type followed struct {
	*memory.Store
	watches atomic.Int32
}

func (f *followed) Watch(ctx context.Context, election string, deliver func(tenure.Snapshot, error)) (func(), error) {
	stop, err := f.Store.Watch(ctx, election, deliver)
	f.watches.Add(1)
	return sync.OnceFunc(func() { stop(); f.watches.Add(-1) }), err
}

// S11: the watch ends too.
func TestS11NothingIsWatchedAfterStop(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &followed{Store: inner}
		c, _ := start(t, store, "a")
		if n := store.watches.Load(); n != 1 {
			t.Errorf("%d watches of a candidate that stands", n)
		}
		stop(t, c)
		if n := store.watches.Load(); n != 0 {
			t.Errorf("%d watches go on after Stop", n)
		}
	})
}

// S11: a bid whose outcome is unknown can land after its sender has stopped; where it can, Stop sees to it that not.
func TestS11StopSettlesABidInDoubt(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &late{Store: inner}
		store.hold.Store(true)
		c, _ := start(t, store, "a")
		time.Sleep(ttl) // the bid has timed out, and is on its way still
		store.hold.Store(false)
		stop(t, c)
		store.land()
		if r := record(t, inner); !r.Vacant() {
			t.Errorf("a bid landed after Stop: %+v", r)
		}
	})
}

func TestTryAcquire(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, _ := candidate(t, store, "a")
		b, _ := candidate(t, inner, "b")
		try := func(c *tenure.Candidate, want bool) {
			t.Helper()
			if won, err := c.TryAcquire(t.Context()); won != want || err != nil {
				t.Errorf("TryAcquire of %s = %v, %v; want %v", c.ID(), won, err, want)
			}
		}
		try(a, true)
		try(a, true)
		time.Sleep(time.Hour)
		expectLeader(t, a)
		try(b, false)
		if s := b.Status().State; s != tenure.StateStopped {
			t.Errorf("state of b = %v", s)
		}
		store.hangs.Store(true) // a is cut off; only a second look, a TTL later, shows that it is dead
		try(b, false)
		time.Sleep(ttl / 2)
		try(b, false)
		time.Sleep(wait - ttl/2)
		try(b, true)
		expectLeader(t, b, a)
		store.hangs.Store(false)
		stop(t, a, b)
	})
}

func TestTryAcquireReportsFailures(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		store.down.Store(true)
		c, _ := candidate(t, store, "a")
		if won, err := c.TryAcquire(t.Context()); won || !errors.Is(err, errOutage) {
			t.Errorf("TryAcquire = %v, %v", won, err)
		}
		store.down.Store(false)
		store.hangs.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if won, err := c.TryAcquire(ctx); won || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("TryAcquire = %v, %v", won, err)
		}
		store.hangs.Store(false)
		if won, err := c.TryAcquire(t.Context()); !won || err != nil {
			t.Errorf("TryAcquire = %v, %v", won, err)
		}
		stop(t, c)
	})
}

func TestCampaign(t *testing.T) {
	type key struct{}
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := candidate(t, store, "a")
		b, _ := candidate(t, store, "b")
		first, err := a.Campaign(context.WithValue(t.Context(), key{}, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if first.Context().Value(key{}) != "value" || first.Context().Err() != nil || first.Term().Token != 1 {
			t.Errorf("term %+v, context %v", first.Term(), first.Context())
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := b.Campaign(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Campaign = %v", err)
		}
		go func() {
			time.Sleep(time.Minute)
			if err := first.Resign(context.Background()); err != nil {
				t.Errorf("Resign: %v", err)
			}
		}()
		second, err := b.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first.Context().Err() == nil || second.Term().Token != 2 || !second.Term().Valid() {
			t.Errorf("the terms overlap: %v, %+v", first.Context().Err(), second.Term())
		}
		for range 2 {
			if err := second.Resign(context.Background()); err != nil {
				t.Errorf("Resign: %v", err)
			}
		}
	})
}

// A Leadership that is over has no say in the next one.
func TestCampaignTwice(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, store, "a")
		var terms []*tenure.Leadership
		for range 2 {
			l, err := c.Campaign(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			terms = append(terms, l)
			if err := terms[0].Resign(context.Background()); err != nil {
				t.Errorf("Resign: %v", err)
			}
		}
		synctest.Wait()
		if terms[1].Context().Err() != nil || !terms[1].Term().Valid() {
			t.Error("the first term's Resign ended the second")
		}
		if err := terms[1].Resign(context.Background()); err != nil {
			t.Errorf("Resign: %v", err)
		}
	})
}

// Whoever holds a Leadership is at work until it says that it is not.
func TestCampaignHoldsTheSeatUntilResign(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := candidate(t, store, "a")
		l, err := a.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tenure.Ask(t.Context(), store, name, tenure.Request{By: "a test"}); err != nil {
			t.Fatal(err)
		}
		<-l.Context().Done()
		if !errors.Is(context.Cause(l.Context()), tenure.ErrResigned) {
			t.Errorf("cause = %v", context.Cause(l.Context()))
		}
		time.Sleep(drain / 2)
		if r := record(t, store); r.Vacant() {
			t.Error("the seat was released while the work went on")
		}
		if err := l.Resign(context.Background()); err != nil {
			t.Errorf("Resign: %v", err)
		}
		if r := record(t, store); !r.Vacant() {
			t.Error("the seat was not released")
		}
	})
}

// gate is a context that holds up whoever asks it for a value.
type gate struct {
	context.Context
	open chan struct{}
}

func (g gate) Value(any) any { <-g.open; return nil }

// held starts call with a context that holds it up just after it has found that the term stands.
func held(call func(context.Context) error) (letGo func() error) {
	g := gate{context.Background(), make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- call(g) }()
	synctest.Wait()
	return func() error { close(g.open); return <-done }
}

// A resignation that comes late is about its own term, and leaves the next one alone.
func TestLateResignationEndsNoOtherTerm(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, d := start(t, store, "a")
		late := held(a.Resign)
		if err := a.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl + time.Millisecond)
		if err := late(); err != nil {
			t.Errorf("the late Resign = %v", err)
		}
		synctest.Wait()
		expectLeader(t, a)
		if n := d.count(tenure.EventEnded); n != 1 {
			t.Errorf("%d terms were ended", n)
		}
		stop(t, a)
	})
}

// Of two hand-overs at once the later one does not say that it succeeded.
func TestTransferThatCameSecond(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		expectLeader(t, a) // so that the drain takes its time
		second := held(func(ctx context.Context) error { return a.TransferTo(ctx, "b") })
		first := make(chan error, 1)
		go func() { first <- a.Resign(context.Background()) }()
		synctest.Wait()
		if err := second(); !errors.Is(err, tenure.ErrNotTransferred) {
			t.Errorf("TransferTo = %v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("Resign = %v", err)
		}
		if r := record(t, store); !r.Vacant() || r.Reserved != "" {
			t.Errorf("record = %+v", r)
		}
		stop(t, a)
	})
}

// A seat that could not be given back was not given back, and whoever asked for it is told.
func TestReleaseThatFails(t *testing.T) {
	for what, test := range map[string]struct {
		end  func(context.Context, *tenure.Candidate) error
		want []error
	}{
		"Resign": {func(ctx context.Context, c *tenure.Candidate) error { return c.Resign(ctx) }, []error{tenure.ErrNotReleased}},
		"TransferTo": {
			func(ctx context.Context, c *tenure.Candidate) error { return c.TransferTo(ctx, "b") },
			[]error{tenure.ErrNotReleased, tenure.ErrNotTransferred},
		},
		"Stop": {func(ctx context.Context, c *tenure.Candidate) error { return c.Stop(ctx) }, []error{tenure.ErrNotReleased}},
		"Stop of a candidacy that has ended": {func(ctx context.Context, c *tenure.Candidate) error {
			_ = c.Stop(ctx)
			return c.Stop(ctx)
		}, []error{tenure.ErrNotReleased}},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T, inner *memory.Store) {
				store := &away{Store: inner}
				a, d := start(t, store, "a")
				store.down.Store(true)
				err := test.end(context.Background(), a)
				for _, want := range test.want {
					if !errors.Is(err, want) {
						t.Errorf("%s = %v, want %v", what, err, want)
					}
				}
				if r := record(t, inner); r.Leader != "a" || d.count(tenure.EventReleased) != 0 {
					t.Errorf("record = %+v", r)
				}
				store.down.Store(false)
				if a.Status().State == tenure.StateStopped { // it is told once: the next run has a story of its own
					if err := a.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(2 * ttl)
				stop(t, a)
			})
		})
	}
}

func TestLeadershipThatCannotBeReleased(t *testing.T) {
	for _, release := range []bool{true, false} {
		bubble(t, func(t *testing.T, inner *memory.Store) {
			store := &away{Store: inner}
			a, _ := candidate(t, store, "a", tenure.WithReleaseOnStop(release))
			l, err := a.Campaign(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			store.down.Store(true)
			var want error
			if release {
				want = tenure.ErrNotReleased
			}
			if err := l.Resign(context.Background()); !errors.Is(err, want) {
				t.Errorf("release %v: Resign = %v", release, err)
			}
			if err := a.Stop(context.Background()); !errors.Is(err, want) {
				t.Errorf("release %v: Stop = %v", release, err)
			}
		})
	}
}

// Nor does anybody wait for the seat of a lease that has run out.
func TestStopAfterALeaseThatRanOut(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, _ := start(t, store, "a")
		expectLeader(t, a)
		store.down.Store(true)
		time.Sleep(trust + drain/2) // it drains still
		if s := a.State(); s != tenure.StateDraining {
			t.Errorf("state = %v", s)
		}
		stop(t, a)
	})
}

// A seat that the successor was seen to have is a seat transferred, whoever gave it away.
func TestTransferToWhomTheSeatWasLost(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		expectLeader(t, a)
		resigned := make(chan error, 1)
		go func() { resigned <- a.TransferTo(context.Background(), "b") }()
		synctest.Wait() // it drains
		s, err := store.Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		r := s.Record.Clone()
		r.Token, r.Leader, r.Session = r.Token+1, "b", "of b"
		if _, err := store.CompareAndSwap(t.Context(), name, s.Version, r); err != nil {
			t.Fatal(err)
		}
		if err := <-resigned; err != nil {
			t.Errorf("the successor has the seat, but TransferTo = %v", err)
		}
		stop(t, a)
	})
}
