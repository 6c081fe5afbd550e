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
		time.Sleep(ttl - time.Millisecond)
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
		time.Sleep(ttl / 2)
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
