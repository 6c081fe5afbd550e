package tenure_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

var errWork = errors.New("the work failed")

// untilEnded is leader work that obeys its context.
func untilEnded(ctx context.Context, _ tenure.Term) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestRunReleasesWhenItsContextEnds(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, d := candidate(t, store, "a")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		var cause error
		err := c.Run(ctx, func(ctx context.Context, term tenure.Term) error {
			if term.Token != 1 || term.Leader != "a" || term.Election != name || !term.Valid() {
				t.Errorf("term = %+v, valid %v", term, term.Valid())
			}
			<-ctx.Done()
			cause = context.Cause(ctx)
			if term.Valid() || c.IsLeader() || term.Remaining() != 0 || !term.Deadline().Before(time.Now()) {
				t.Error("the term is trusted although its context has ended")
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
		if !errors.Is(cause, tenure.ErrStopped) {
			t.Errorf("cause = %v", cause)
		}
		if r := record(t, store); !r.Vacant() || r.Token != 1 || r.Session != "" {
			t.Errorf("the seat was not released: %+v", r)
		}
		if n := d.count(tenure.EventRenewed); n < 17 || n > 21 {
			t.Errorf("%d renewals in a minute of a 10 s lease", n)
		}
	})
}

func TestRunReturnsWithItsFunction(t *testing.T) {
	for _, want := range []error{nil, errWork} {
		bubble(t, func(t *testing.T, store *memory.Store) {
			c, _ := candidate(t, store, "a")
			err := c.Run(t.Context(), func(context.Context, tenure.Term) error { return want })
			if !errors.Is(err, want) {
				t.Errorf("Run = %v, want %v", err, want)
			}
			if r := record(t, store); !r.Vacant() || r.Token != 1 {
				t.Errorf("the seat was not released: %+v", r)
			}
		})
	}
}

// TestNoWork: a function that is nil is refused before a seat is taken for it.
func TestNoWork(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, store, "a")
		if err := c.Run(t.Context(), nil); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("Run(nil) = %v", err)
		}
		if ran, err := c.RunIfLeader(t.Context(), nil); ran || !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("RunIfLeader(nil) = %v, %v", ran, err)
		}
		if r := record(t, store); r.Token != 0 {
			t.Errorf("a seat was taken: %+v", r)
		}
	})
}

func TestRunStandsAgainAfterALostTerm(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		c, _ := candidate(t, store, "a")
		var causes []error
		var tokens []uint64
		err := c.Run(t.Context(), func(ctx context.Context, term tenure.Term) error {
			tokens = append(tokens, term.Token)
			if len(tokens) == 3 {
				return nil
			}
			store.down.Store(true)
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
			time.AfterFunc(time.Minute, func() { store.down.Store(false) })
			return errWork // of a lost term: Run goes on
		})
		if err != nil {
			t.Errorf("Run = %v", err)
		}
		if len(tokens) != 3 || tokens[0] >= tokens[1] || tokens[1] >= tokens[2] {
			t.Errorf("tokens = %v", tokens)
		}
		for _, cause := range causes {
			if !errors.Is(cause, tenure.ErrLeaseExpired) {
				t.Errorf("cause = %v", cause)
			}
		}
	})
}

// Work that finds its term over by asking may return before its context has ended. That is a lost term like any other.
func TestRunStandsAgainWhenWorkFoundTheEndFirst(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		clock := newClocks()
		c, _ := candidate(t, store, "a", tenure.WithClock(clock.read))
		terms := 0
		err := c.Run(t.Context(), func(ctx context.Context, term tenure.Term) error {
			if terms++; terms > 1 {
				return errWork
			}
			clock.jump(2*ttl, 2*ttl)
			if term.Valid() || ctx.Err() != nil {
				t.Errorf("valid %v, context %v", term.Valid(), ctx.Err())
			}
			return nil
		})
		if !errors.Is(err, errWork) || terms != 2 {
			t.Errorf("Run = %v after %d terms", err, terms)
		}
	})
}

// So is one that was lost before anybody has taken it up: a function is not called for it, a campaign goes on.
func TestTermLostBeforeItIsTakenUp(t *testing.T) {
	for _, how := range []string{"Run", "Campaign"} {
		bubble(t, func(t *testing.T, inner *memory.Store) {
			clock := newClocks()
			store := &stalling{Store: inner, clocks: clock}
			c, _ := candidate(t, store, "a", tenure.WithClock(store.read))
			var term tenure.Term
			var valid bool
			if how == "Run" {
				_ = c.Run(t.Context(), func(_ context.Context, led tenure.Term) error {
					term, valid = led, led.Valid()
					return nil
				})
			} else {
				l, err := c.Campaign(t.Context())
				if err != nil {
					t.Fatalf("Campaign = %v", err)
				}
				term, valid = l.Term(), l.Term().Valid()
				defer func() { _ = l.Resign(context.Background()) }()
			}
			if term.Token != 2 || !valid {
				t.Errorf("%s: term %d was handed over, valid %v", how, term.Token, valid)
			}
		})
	}
}

// stalling is a store, and the clock of a process, that is paused just after its first bid was found to have landed.
type stalling struct {
	tenure.Store
	*clocks
	reads atomic.Int32 // until the pause
}

func (s *stalling) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	if r.Token == 1 && !r.Vacant() {
		defer s.reads.Store(2)
	}
	return s.Store.CompareAndSwap(ctx, election, old, r)
}

func (s *stalling) read() (mono, wall time.Duration) {
	if s.reads.Load() > 0 && s.reads.Add(-1) == 0 {
		s.jump(2*ttl, 2*ttl)
	}
	return s.clocks.read()
}

func TestRunPanicsOnAfterReleasing(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, store, "a")
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("recovered %v", p)
				}
			}()
			_ = c.Run(t.Context(), func(context.Context, tenure.Term) error { panic("boom") })
			t.Error("Run returned")
		}()
		if r := record(t, store); !r.Vacant() {
			t.Errorf("the seat was not released: %+v", r)
		}
		if s := c.Status().State; s != tenure.StateStopped {
			t.Errorf("state = %v", s)
		}
	})
}

func TestRunOnlyOnce(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a")
		if err := c.Run(t.Context(), untilEnded); !errors.Is(err, tenure.ErrRunning) {
			t.Errorf("Run = %v", err)
		}
		if err := c.Start(t.Context()); !errors.Is(err, tenure.ErrRunning) {
			t.Errorf("Start = %v", err)
		}
		if _, err := c.Campaign(t.Context()); !errors.Is(err, tenure.ErrRunning) {
			t.Errorf("Campaign = %v", err)
		}
		stop(t, c)
		if err := c.Run(t.Context(), func(context.Context, tenure.Term) error { return errWork }); !errors.Is(err, errWork) {
			t.Errorf("Run after Stop = %v", err)
		}
	})
}

func TestRunReturnsNilWhenStopped(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, store, "a")
		go func() {
			time.Sleep(time.Minute)
			stop(t, c)
		}()
		if err := c.Run(t.Context(), untilEnded); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestRunGivesUpOnAPermanentFailure(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		permanent := tenure.Permanent(errors.New("no permission"))
		store.fault.Store(&permanent)
		c, _ := candidate(t, store, "a")
		err := c.Run(t.Context(), untilEnded)
		if !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("Run = %v", err)
		}
	})
}

// A failure whose cause was repaired within the lease is no reason to give up at the end of some later term.
func TestRunForgetsAPermanentFailureThatWasRepaired(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		c, d := candidate(t, store, "a")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx, untilEnded) }()
		time.Sleep(ttl / 10)
		permanent := tenure.Permanent(errors.New("no permission"))
		store.fault.Store(&permanent)
		time.Sleep(ttl / 3)
		store.fault.Store(nil)
		if d.count(tenure.EventStoreFailed) == 0 {
			t.Error("no renewal has met the failure")
		}
		time.Sleep(ttl)
		if err := c.Resign(ctx); err != nil {
			t.Errorf("Resign: %v", err)
		}
		time.Sleep(2 * ttl)
		if n := d.count(tenure.EventElected); n != 2 {
			t.Errorf("elected %d times, want again after the resignation", n)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	})
}

// Start has nobody to tell, so it goes on until the cause is repaired (L4).
func TestStartOutlivesAPermanentFailure(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		permanent := tenure.Permanent(errors.New("no permission"))
		store.fault.Store(&permanent)
		c, d := start(t, store, "a")
		time.Sleep(time.Hour)
		if n := d.count(tenure.EventStoreFailed); n == 0 || n > 3600 {
			t.Errorf("%d failures reported in an hour", n)
		}
		expectLeader(t, nil, c)
		store.fault.Store(nil)
		time.Sleep(ttl)
		expectLeader(t, c)
		stop(t, c)
	})
}

func TestRunIfLeader(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		b, _ := start(t, store, "b")
		ran, err := b.RunIfLeader(t.Context(), func(context.Context, tenure.Term) error { return nil })
		if ran || err != nil {
			t.Errorf("a standing candidate ran: %v, %v", ran, err)
		}
		var released bool
		go func() {
			time.Sleep(time.Second)
			if err := a.Resign(context.Background()); err != nil {
				t.Errorf("Resign: %v", err)
			}
		}()
		ran, err = a.RunIfLeader(t.Context(), func(ctx context.Context, term tenure.Term) error {
			if term.Token != 1 || !term.Valid() {
				t.Errorf("it was given term %d, valid %v", term.Token, term.Valid())
			}
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), tenure.ErrResigned) {
				t.Errorf("cause = %v", context.Cause(ctx))
			}
			time.Sleep(drain / 2)
			released = b.IsLeader()
			return errWork
		})
		if !ran || !errors.Is(err, errWork) {
			t.Errorf("RunIfLeader = %v, %v", ran, err)
		}
		if released {
			t.Error("another leads before the work has returned")
		}
		synctest.Wait()
		expectLeader(t, b, a)
		stop(t, a, b)
	})
}

// Candidates in one bubble start and stop at the same instants. The race detector has to survive that: with a timer
// that is set to go off at once it crashes now and then.
func TestManyCandidatesInABubble(t *testing.T) {
	for range 60 {
		bubble(t, func(t *testing.T, store *memory.Store) {
			var all sync.WaitGroup
			for n := range 4 {
				all.Go(func() {
					for range 50 {
						c, err := tenure.New(store, fmt.Sprint(name, n))
						if err != nil {
							t.Error(err)
							return
						}
						if err := errors.Join(c.Start(t.Context()), c.Stop(t.Context())); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
		})
	}
}
