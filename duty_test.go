package tenure_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// Leader work may end its own term. With its own context it does not wait for itself.
func TestLeaderWorkEndsItsOwnTerm(t *testing.T) {
	for what, end := range map[string]func(context.Context, *tenure.Candidate) error{
		"Stop":       func(ctx context.Context, c *tenure.Candidate) error { return c.Stop(ctx) },
		"Resign":     func(ctx context.Context, c *tenure.Candidate) error { return c.Resign(ctx) },
		"TransferTo": func(ctx context.Context, c *tenure.Candidate) error { return c.TransferTo(ctx, "b") },
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *memory.Store) {
				a, d := candidate(t, store, "a")
				work := func(ctx context.Context, _ tenure.Term) error {
					began := time.Now()
					derived, cancel := context.WithCancel(context.WithoutCancel(ctx))
					defer cancel()
					if err := end(derived, a); err != nil || time.Since(began) != 0 {
						t.Errorf("%s = %v after %v", what, err, time.Since(began))
					}
					return untilEnded(ctx, tenure.Term{})
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- a.Run(ctx, work) }()
				synctest.Wait()
				if r := record(t, store); !r.Vacant() || d.count(tenure.EventOverran) != 0 {
					t.Errorf("the seat was not given up: %+v", r)
				}
				cancel()
				<-done
				if err := a.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * ttl)
				if ran, err := a.RunIfLeader(t.Context(), work); !ran || !errors.Is(err, context.Canceled) {
					t.Errorf("RunIfLeader = %v, %v", ran, err)
				}
				synctest.Wait()
				if r := record(t, store); !r.Vacant() || d.count(tenure.EventOverran) != 0 {
					t.Errorf("the seat was not given up: %+v", r)
				}
				stop(t, a)
			})
		})
	}
}

// Whoever holds a Leadership may stop its candidate; what it calls may resign. Resign itself says that the work is
// done, so that it waits even with the Leadership's own context.
func TestLeadershipEndsItsOwnTerm(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := candidate(t, store, "a")
		l, err := a.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Stop(l.Context()); err != nil {
			t.Errorf("Stop = %v", err)
		}
		synctest.Wait()
		if r := record(t, store); r.Vacant() || l.Context().Err() == nil {
			t.Errorf("the seat was given up under the work: %+v", r)
		}
		if err := l.Resign(l.Context()); err != nil {
			t.Errorf("Resign = %v", err)
		}
		if r := record(t, store); !r.Vacant() || a.Status().State != tenure.StateStopped {
			t.Errorf("Resign did not wait: %+v", r)
		}

		if l, err = a.Campaign(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = a.RunIfLeader(t.Context(), func(ctx context.Context, _ tenure.Term) error {
			began := time.Now()
			err := l.Resign(ctx)
			if time.Since(began) != 0 {
				t.Errorf("Resign within a function took %v", time.Since(began))
			}
			return err
		})
		if err != nil {
			t.Errorf("RunIfLeader = %v", err)
		}
		stop(t, a)
	})
}

// A context of work that is over, or of another candidate's, is no reason not to wait.
func TestContextOfOtherWorkWaits(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		var past context.Context
		if _, err := a.RunIfLeader(t.Context(), func(ctx context.Context, _ tenure.Term) error {
			past = context.WithoutCancel(ctx) //nolint:fatcontext // what a careless user keeps
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := a.Stop(past); err != nil || !isVacant(t, store) {
			t.Errorf("Stop with the context of past work = %v, vacant %v", err, isVacant(t, store))
		}
		b, _ := start(t, memory.New(), "b")
		other := memory.New()
		c, _ := start(t, other, "c")
		if _, err := b.RunIfLeader(t.Context(), func(ctx context.Context, _ tenure.Term) error { return c.Stop(ctx) }); err != nil {
			t.Errorf("Stop of another candidate = %v", err)
		}
		if !isVacant(t, other) {
			t.Error("Stop of another candidate did not wait")
		}
		stop(t, b)
	})
}

func isVacant(t *testing.T, store tenure.Store) bool {
	t.Helper()
	r := record(t, store)
	return r.Vacant() && r.Token != 0
}

// Work that ends its goroutine, as t.FailNow does, gives the seat back.
func TestWorkThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		exit := func(context.Context, tenure.Term) error { runtime.Goexit(); return nil }
		a, _ := candidate(t, store, "a")
		done := make(chan struct{})
		go func() { defer close(done); _ = a.Run(t.Context(), exit) }()
		<-done
		if !isVacant(t, store) || a.Status().State != tenure.StateStopped {
			t.Errorf("after Run: %+v", record(t, store))
		}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		go func() { _, _ = a.RunIfLeader(t.Context(), exit) }()
		synctest.Wait()
		stop(t, a)
		if !isVacant(t, store) {
			t.Errorf("after RunIfLeader: %+v", record(t, store))
		}
	})
}

// A health check that ends its goroutine has failed, and is called again.
func TestHealthCheckThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		checks := 0
		a, _ := start(t, store, "a", tenure.WithHealthCheck(func(context.Context) error {
			if checks++; checks < 3 {
				runtime.Goexit()
			}
			return nil
		}, time.Second))
		expectLeader(t, nil, a)
		time.Sleep(3 * time.Second)
		expectLeader(t, a)
		if a.Status().LastError == nil {
			t.Error("no failure was reported")
		}
		stop(t, a)
	})
}
