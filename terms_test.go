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

// checked makes a candidate with a health check and an observer, which keep nothing.
func checked(t *testing.T, store tenure.Store) *tenure.Candidate {
	t.Helper()
	c, err := tenure.New(store, name, tenure.WithTTL(ttl), tenure.WithObserver(func(tenure.Event) {}),
		tenure.WithHealthCheck(func(context.Context) error { return nil }, 0))
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return c
}

// expectNoGrowth checks that what the process holds does not grow with the rounds that it makes.
func expectNoGrowth(t *testing.T, round func()) {
	t.Helper()
	const first, rounds = 50, 500
	for range first { // rings and buffers fill up
		round()
	}
	synctest.Wait()
	goroutines, objects := runtime.NumGoroutine(), alive()
	for range rounds {
		round()
	}
	synctest.Wait()
	if more := runtime.NumGoroutine() - goroutines; more > rounds/10 {
		t.Errorf("%d rounds left %d goroutines", rounds, more)
	}
	if more := alive() - objects; more > rounds/2 && !raceEnabled {
		t.Errorf("%d rounds left %d objects in memory", rounds, more)
	}
}

// alive returns how many objects are in memory that something refers to.
func alive() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapObjects)
}

// What a candidate holds does not grow with the terms of one run.
func TestTermsLeaveNothingBehind(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c := checked(t, store)
		ctx, cancel := context.WithCancel(t.Context())
		led := make(chan struct{})
		done := make(chan error)
		go func() {
			done <- c.Run(ctx, func(ctx context.Context, term tenure.Term) error {
				led <- struct{}{}
				return untilEnded(ctx, term)
			})
		}()
		expectNoGrowth(t, func() {
			<-led
			if err := c.Resign(ctx); err != nil {
				t.Fatalf("Resign: %v", err)
			}
		})
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	})
}

// Nor does it grow with the runs, even if they all share the context of the process.
func TestRunsLeaveNothingBehind(t *testing.T) {
	for name, run := range map[string]func(context.Context, *tenure.Candidate) error{
		"Run": func(ctx context.Context, c *tenure.Candidate) error {
			return c.Run(ctx, func(context.Context, tenure.Term) error { time.Sleep(ttl); return nil })
		},
		"Start": func(ctx context.Context, c *tenure.Candidate) error {
			err := c.Start(ctx)
			time.Sleep(ttl)
			return errors.Join(err, c.Stop(ctx))
		},
		"Campaign": func(ctx context.Context, c *tenure.Candidate) error {
			l, err := c.Campaign(ctx)
			if err != nil {
				return err
			}
			time.Sleep(ttl)
			return errors.Join(l.Resign(ctx), c.Stop(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *memory.Store) {
				c := checked(t, store)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				expectNoGrowth(t, func() {
					if err := run(ctx, c); err != nil {
						t.Fatal(err)
					}
				})
			})
		})
	}
}
