package tenure_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// S4: State reads the clock, as IsLeader does: a leader whose trust is over is none, though it has not noticed.
func TestS4StateReadsTheClock(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		clock := newClocks()
		c, _ := candidate(t, store, "a", tenure.WithClock(clock.read))
		expect := func(want tenure.State) {
			t.Helper()
			if s := c.State(); s != want || c.Status().State != want {
				t.Errorf("State = %v, Status has %v, want %v", s, c.Status().State, want)
			}
		}
		expect(tenure.StateStopped)
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		expect(tenure.StateLeader)
		clock.jump(2*ttl, 2*ttl)
		expect(tenure.StateDraining)
		stop(t, c)
		expect(tenure.StateStopped)
	})
}

// S8: to look is to hand out nothing, so it delays no hand-over.
func TestS8LookingIsNotActing(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		b, _ := start(t, store, "b")
		if a.State() != tenure.StateLeader || b.State() != tenure.StateCandidate {
			t.Errorf("a is %v, b %v", a.State(), b.State())
		}
		began := time.Now()
		if err := a.Resign(context.Background()); err != nil || time.Since(began) != 0 {
			t.Errorf("Resign = %v after %v", err, time.Since(began))
		}
		stop(t, a, b)
	})
}

// The return of the function of Run says that nothing in the process acts under the term any more, and so does Resign
// of a Leadership: a yes of IsLeader costs no drain then.
func TestS8ReturnOfTheFunctionSettlesWhatWasHandedOut(t *testing.T) {
	for _, how := range []string{"Run", "Campaign"} {
		bubble(t, func(t *testing.T, store *memory.Store) {
			a, _ := candidate(t, store, "a")
			work := func(ctx context.Context) {
				if _, ok := a.Term(); !a.IsLeader() || !ok {
					t.Error("a does not lead")
				}
				<-ctx.Done()
				time.Sleep(drain / 4)
			}
			done := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			if how == "Run" {
				go func() {
					done <- a.Run(ctx, func(ctx context.Context, _ tenure.Term) error { work(ctx); return nil })
				}()
			} else {
				l, err := a.Campaign(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				go func() { work(l.Context()); done <- l.Resign(context.Background()) }()
			}
			synctest.Wait()
			began := time.Now()
			if err := a.Resign(context.Background()); err != nil {
				t.Errorf("%s: Resign = %v", how, err)
			}
			if took := time.Since(began); took != drain/4 {
				t.Errorf("%s: the hand-over took %v, want %v", how, took, drain/4)
			}
			cancel()
			<-done
		})
	}
}

// Status tells how long the last hand-over took, and what it waited for.
func TestStatusTellsWhatAHandOverWaitedFor(t *testing.T) {
	observer := tenure.WithObserver(func(e tenure.Event) {
		if e.Kind == tenure.EventEnded {
			time.Sleep(drain / 2)
		}
	})
	for _, test := range []struct {
		says    string
		took    time.Duration
		options []tenure.Option
		lead    func(*tenure.Candidate)
	}{
		{"observers", drain / 2, []tenure.Option{observer}, func(*tenure.Candidate) {}},
		{"IsLeader", drain, []tenure.Option{observer}, func(c *tenure.Candidate) { c.IsLeader() }},
		{"functions", drain / 4, nil, func(c *tenure.Candidate) {
			go func() {
				_, _ = c.RunIfLeader(context.Background(), func(ctx context.Context, _ tenure.Term) error {
					<-ctx.Done()
					time.Sleep(drain / 4)
					return nil
				})
			}()
		}},
	} {
		bubble(t, func(t *testing.T, store *memory.Store) {
			c, _ := start(t, store, "a", test.options...)
			if h := c.Status().HandOver; h != (tenure.HandOver{}) {
				t.Errorf("before any: %+v", h)
			}
			test.lead(c)
			synctest.Wait()
			stop(t, c)
			if h := c.Status().HandOver; h.Took != test.took || !strings.Contains(h.WaitedFor, test.says) {
				t.Errorf("%+v, want %v for %s", h, test.took, test.says)
			}
		})
	}
}

// State agrees with IsLeader at every instant at which anybody could ask.
func TestStateAgreesWithIsLeader(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		var asked atomic.Pointer[tenure.Candidate]
		var asking atomic.Bool
		began := time.Now()
		read := func() (mono, wall time.Duration) {
			if c := asked.Load(); c != nil && !asking.Swap(true) {
				before, state, after := c.IsLeader(), c.State(), c.IsLeader()
				if before && after && state != tenure.StateLeader {
					t.Errorf("IsLeader says yes, and State %v", state)
				}
				asking.Store(false)
			}
			return time.Since(began), time.Since(began)
		}
		c, _ := candidate(t, store, "a", tenure.WithClock(read))
		asked.Store(c)
		for range 3 {
			if won, err := c.TryAcquire(t.Context()); !won || err != nil {
				t.Fatalf("TryAcquire = %v, %v", won, err)
			}
			time.Sleep(ttl)
			stop(t, c)
		}
	})
}
