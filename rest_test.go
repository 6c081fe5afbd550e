package tenure_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// deaf is a store that pushes nothing, and whose calls can be made to ignore their context until it hears again.
type deaf struct {
	tenure.Store
	next  atomic.Int32 // so many calls from now on hang
	exits atomic.Int32 // so many end their goroutine
	calls atomic.Int32
	hears chan struct{}
}

func newDeaf(inner tenure.Store) *deaf { return &deaf{Store: inner, hears: make(chan struct{})} }

func (d *deaf) hang() {
	d.calls.Add(1)
	if d.exits.Load() > 0 && d.exits.Add(-1) >= 0 {
		runtime.Goexit()
	}
	if d.next.Load() > 0 && d.next.Add(-1) >= 0 {
		<-d.hears
	}
}

func (d *deaf) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	d.hang()
	return d.Store.Load(ctx, election)
}

func (d *deaf) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	d.hang()
	return d.Store.CompareAndSwap(ctx, election, old, r)
}

// within calls f, and fails if it takes longer than bound.
func within(t *testing.T, bound time.Duration, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	began := time.Now()
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(bound):
		t.Fatalf("%s has not returned after %v", what, time.Since(began))
		return nil
	}
}

// One call that ignores its context ends no leadership, and no candidacy; nor does what it returns in the end.
func TestCallThatIgnoresItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := newDeaf(inner)
		c, d := start(t, store, "a")
		store.next.Store(1)
		time.Sleep(time.Hour)
		expectLeader(t, c)
		if n := d.count(tenure.EventElected); n != 1 {
			t.Errorf("elected %d times", n)
		}
		e, _ := d.find(tenure.EventStoreFailed)
		if e.Err == nil || !strings.Contains(e.Err.Error(), "ignores the end of a call's context") {
			t.Errorf("the failure was reported as %v", e.Err)
		}
		close(store.hears)
		time.Sleep(time.Minute)
		if d.count(tenure.EventStoreFailed) != 1 || d.count(tenure.EventElected) != 1 {
			t.Errorf("the late reply changed something: %+v", d.events)
		}
		stop(t, c)
	})
}

// Calls that ignore their context do not pile up without end, and when they return all is well again.
func TestCallsThatIgnoreTheirContextAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := newDeaf(inner)
		store.next.Store(1000)
		c, _ := start(t, store, "a")
		time.Sleep(time.Hour)
		if n := store.calls.Load(); n != 3 {
			t.Errorf("%d calls were made", n)
		}
		if err := c.Status().LastError; !errors.Is(err, tenure.ErrNotApplied) || !strings.Contains(err.Error(), "3 have not returned") {
			t.Errorf("last error = %v", err)
		}
		store.next.Store(0)
		close(store.hears)
		time.Sleep(time.Minute)
		expectLeader(t, c)
		stop(t, c)
	})
}

// A call that ends its goroutine has failed, no more.
func TestCallThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := newDeaf(inner)
		c, _ := start(t, store, "a")
		store.exits.Store(1)
		time.Sleep(time.Minute)
		expectLeader(t, c)
		if err := within(t, time.Hour, "Stop", func() error { return c.Stop(context.Background()) }); err != nil {
			t.Errorf("Stop = %v", err)
		}
	})
}

// Run returns after its bounds, whatever hangs, and says so without hiding why it returned.
func TestRunReturnsThoughSomethingHangs(t *testing.T) {
	for _, test := range []struct {
		what, says string
		option     func(hang func()) tenure.Option
	}{
		{"a call", "a call to the store", nil},
		{"a watch", "its watch", nil},
		{"a health check", "a health check", func(hang func()) tenure.Option {
			return tenure.WithHealthCheck(func(context.Context) error { hang(); return nil }, time.Second)
		}},
		{"an observer", "an observer", func(hang func()) tenure.Option {
			return tenure.WithObserver(func(tenure.Event) { hang() })
		}},
		{"a log handler", "the log handler", func(hang func()) tenure.Option {
			return tenure.WithLogger(slog.New(&hanging{Handler: slog.DiscardHandler, hang: hang}))
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			bubble(t, func(t *testing.T, inner *memory.Store) {
				hears := make(chan struct{})
				var hangs atomic.Bool
				hang := func() {
					if hangs.Load() {
						<-hears
					}
				}
				var options []tenure.Option
				var store tenure.Store = &sticky{Store: inner, hang: hang}
				switch test.what {
				case "a call":
					deaf := newDeaf(inner)
					deaf.hears = hears
					deaf.next.Store(1)
					store = deaf
				case "a watch":
				default:
					store, options = inner, append(options, test.option(hang))
				}
				c, _ := candidate(t, store, "a", options...)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Minute, func() { hangs.Store(true) })
				time.AfterFunc(2*time.Minute, cancel)
				err := within(t, 2*time.Minute+2*ttl, "Run", func() error { return c.Run(ctx, untilEnded) })
				if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
					!errors.Is(err, tenure.ErrNotReturned) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("Run = %v", err)
				}
				short, cancelShort := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancelShort()
				err = within(t, 2*ttl, "Stop", func() error { return c.Stop(short) })
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, tenure.ErrNotReturned) {
					t.Errorf("Stop = %v", err)
				}
				close(hears)
				stop(t, c)
			})
		})
	}
}

// hanging is a log handler that hangs.
type hanging struct {
	slog.Handler
	hang func()
}

func (h *hanging) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *hanging) Enabled(context.Context, slog.Level) bool { h.hang(); return false }

// sticky is a store whose watches do not let themselves be stopped.
type sticky struct {
	*memory.Store
	hang func()
}

func (s *sticky) Watch(ctx context.Context, election string, deliver func(tenure.Snapshot, error)) (func(), error) {
	stop, err := s.Store.Watch(ctx, election, deliver)
	return func() { stop(); s.hang() }, err
}

// A candidacy that has ended with its context may have left work that overran, and Stop says so.
func TestStopTellsOfWorkThatOverranBefore(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, store, "a")
		ctx, cancel := context.WithCancel(t.Context())
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		finish := make(chan struct{})
		go func() {
			_, _ = c.RunIfLeader(context.Background(), func(context.Context, tenure.Term) error { <-finish; return nil })
		}()
		synctest.Wait()
		cancel()
		time.Sleep(ttl)
		if s := c.Status().State; s != tenure.StateStopped {
			t.Errorf("state = %v", s)
		}
		if err := c.Stop(t.Context()); !errors.Is(err, tenure.ErrOverran) {
			t.Errorf("Stop = %v", err)
		}
		close(finish)
	})
}

// S11: no callback runs after Stop has returned, even if the candidacy had ended by itself before.
func TestS11StopWaitsForCallbacksOfACandidacyThatHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		var busy atomic.Int32
		slow := func() { busy.Add(1); time.Sleep(time.Second); busy.Add(-1) }
		c, _ := candidate(t, store, "a", tenure.WithObserver(func(tenure.Event) { slow() }),
			tenure.WithLogger(slog.New(&hanging{Handler: slog.DiscardHandler, hang: slow})))
		ctx, cancel := context.WithCancel(t.Context())
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		cancel()
		time.Sleep(drain + time.Millisecond)
		for c.Status().State != tenure.StateStopped {
			time.Sleep(time.Millisecond)
		}
		if busy.Load() == 0 {
			t.Error("no callback runs: the test shows nothing")
		}
		stop(t, c)
		if n := busy.Load(); n != 0 {
			t.Errorf("%d callbacks run after Stop", n)
		}
	})
}

// exiting is a store that pushes, and whose watches end the goroutine that sets them up, so many times.
type exiting struct {
	*deaf
	tenure.Watcher
	exits atomic.Int32
}

func newExiting(store *memory.Store) *exiting { return &exiting{deaf: newDeaf(store), Watcher: store} }

func (e *exiting) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if e.exits.Add(-1) >= 0 {
		runtime.Goexit()
	}
	return e.Watcher.Watch(ctx, election, deliver)
}

// Whatever calls a store that ends the goroutine of the call, as t.FailNow does in a test's store, takes that for a
// failure and tries again.
func TestObserverOfAStoreThatEndsGoroutines(t *testing.T) {
	for what, pushes := range map[string]bool{"polled": false, "pushed": true} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T, inner *memory.Store) {
				e := newExiting(inner)
				e.deaf.exits.Store(1)
				var store tenure.Store = e.deaf
				if pushes {
					e.exits.Store(1)
					store = e
				}
				leader, _ := start(t, inner, "leader")
				expectLeader(t, leader)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				failed, ended := false, false
				for change, err := range tenure.Observe(ctx, store, name) {
					if err != nil {
						failed = true
						time.AfterFunc(ttl, func() { stop(t, leader) })
					}
					if ended = change.Kind == tenure.ChangeReleased; ended {
						break
					}
				}
				if !failed || !ended || e.exits.Load() >= 0 && pushes {
					t.Errorf("it saw the failure: %v; what came after it: %v; %d watches are to fail yet", failed, ended, e.exits.Load())
				}
			})
		})
	}
}

func TestStoreThatEndsTheGoroutineOfAnOperation(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		leader, _ := start(t, store, "leader")
		expectLeader(t, leader)
		e := newExiting(store)
		e.deaf.exits.Store(1)
		began := time.Now()
		if _, err := tenure.Ask(t.Context(), e, name, tenure.Request{}); err != nil || time.Since(began) > ttl {
			t.Errorf("Ask = %v after %v", err, time.Since(began))
		}
		stop(t, leader)
	})
}

func TestWatchThatEndsItsGoroutineIsSetUpAgain(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		e := newExiting(store)
		e.exits.Store(1)
		c, _ := start(t, e, "a")
		time.Sleep(10 * ttl)
		if e.exits.Load() >= 0 {
			t.Error("it was not")
		}
		stop(t, c)
	})
}
