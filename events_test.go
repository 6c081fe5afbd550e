package tenure_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

var errSick = errors.New("the disk hangs")

func TestEventsComeInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, d := start(t, store, "a", tenure.WithRenewInterval(ttl/4))
		time.Sleep(ttl/4 + time.Millisecond)
		stop(t, a)
		var kinds []tenure.EventKind
		for _, e := range d.events {
			kinds = append(kinds, e.Kind)
			if e.Election != name || e.Candidate != "a" || e.At.IsZero() || e.Reason == "" {
				t.Errorf("event %+v", e)
			}
		}
		want := []tenure.EventKind{
			tenure.EventElected, tenure.EventLeaderChanged, tenure.EventRenewed,
			tenure.EventEnded, tenure.EventLeaderChanged, tenure.EventReleased, tenure.EventStopped,
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("events %v, want %v", kinds, want)
		}
	})
}

// Story 4 and S11's other side: an observer that hangs or panics never delays a renewal.
func TestObserversAreNotWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		unblock := make(chan struct{})
		a, d := start(t, store, "a",
			tenure.WithObserver(func(tenure.Event) { panic("an observer") }),
			tenure.WithObserver(func(tenure.Event) { <-unblock }))
		time.Sleep(time.Hour)
		expectLeader(t, a)
		if n := d.count(tenure.EventElected) + d.count(tenure.EventLeaderChanged); n != 1 {
			t.Errorf("%d events were told past an observer that hangs", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stop = %v", err)
		}
		close(unblock)
		synctest.Wait()
		if r := record(t, store); !r.Vacant() {
			t.Error("the seat was not released")
		}
	})
}

// S8: leadership that an observer learned of from events is given up once it was told of the end.
func TestS8ObserversHearOfTheEndBeforeTheSeatIsGivenUp(t *testing.T) {
	for _, test := range []struct {
		takes, want time.Duration
	}{{0, 0}, {drain / 2, drain / 2}, {time.Hour, drain}} {
		bubble(t, func(t *testing.T, store *memory.Store) {
			var acts atomic.Bool
			unblock := make(chan struct{})
			a, _ := start(t, store, "a", tenure.WithObserver(func(e tenure.Event) {
				switch e.Kind {
				case tenure.EventElected:
					acts.Store(true)
				case tenure.EventEnded:
					select {
					case <-time.After(test.takes):
					case <-unblock:
					}
					acts.Store(false)
				}
			}))
			b, _ := start(t, store, "b", tenure.WithObserver(func(e tenure.Event) {
				if e.Kind == tenure.EventElected && acts.Load() && test.takes <= drain {
					t.Error("b was elected while a acts on what it observed")
				}
			}))
			began := time.Now()
			if err := a.Resign(context.Background()); err != nil {
				t.Errorf("Resign = %v", err)
			}
			if took := time.Since(began); took != test.want {
				t.Errorf("an observer that takes %v: the hand-over took %v, want %v", test.takes, took, test.want)
			}
			synctest.Wait()
			expectLeader(t, b, a)
			close(unblock)
			stop(t, a, b)
		})
	}
}

// Story 23: health gates renewal and candidacy.
func TestStory23HealthGatesLeadership(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		var sick atomic.Bool
		check := func(context.Context) error {
			if sick.Load() {
				return errSick
			}
			return nil
		}
		a, da := start(t, store, "a", tenure.WithHealthCheck(check, time.Second))
		b, _ := start(t, store, "b")
		expectLeader(t, a, b)
		a.Idle()
		sick.Store(true)
		time.Sleep(time.Second + time.Millisecond)
		expectLeader(t, b, a)
		if e, ok := da.find(tenure.EventEnded); !ok || !errors.Is(e.Err, tenure.ErrUnhealthy) {
			t.Errorf("the end of the term was reported as %+v", e)
		}
		if err := a.Status().LastError; !errors.Is(err, errSick) {
			t.Errorf("last error = %v", err)
		}
		stop(t, b)
		time.Sleep(time.Minute)
		expectLeader(t, nil, a)
		sick.Store(false)
		time.Sleep(time.Second)
		expectLeader(t, a)
		stop(t, a)
	})
}

// A candidate whose health is not known yet does not stand: what hangs may have hung before it came.
func TestHealthIsKnownBeforeTheFirstBid(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		well := make(chan struct{})
		check := func(context.Context) error { <-well; return nil }
		a, _ := start(t, store, "a", tenure.WithHealthCheck(check, time.Hour))
		time.Sleep(time.Minute)
		expectLeader(t, nil, a)
		if r := record(t, store); r.Token != 0 {
			t.Errorf("it made a bid: %+v", r)
		}
		close(well)
		synctest.Wait()
		expectLeader(t, a)
		stop(t, a)
	})
}

// A check that hangs has failed when its time is over, whether it obeys its context or not.
func TestHealthCheckThatHangs(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		var hang atomic.Bool
		check := func(ctx context.Context) error {
			if hang.Load() {
				<-ctx.Done()
				time.Sleep(time.Minute) // and does not obey
			}
			return nil
		}
		a, d := start(t, store, "a", tenure.WithHealthCheck(check, time.Second))
		expectLeader(t, a)
		hang.Store(true)
		time.Sleep(2*time.Second + time.Millisecond)
		expectLeader(t, nil, a)
		if d.count(tenure.EventEnded) != 1 {
			t.Error("the term was not ended")
		}
		hang.Store(false)
		time.Sleep(2 * time.Minute)
		expectLeader(t, a)
		stop(t, a)
	})
}

func TestHealthCheckThatPanics(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a", tenure.WithHealthCheck(func(context.Context) error { panic("sick") }, 0))
		time.Sleep(time.Minute)
		expectLeader(t, nil, a)
		if err := a.Status().LastError; err == nil || !strings.Contains(err.Error(), "sick") {
			t.Errorf("last error = %v", err)
		}
		stop(t, a)
	})
}

func TestRecordTellsOthersAboutTheLeader(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		metadata := map[string]string{"zone": "north"}
		a, _ := start(t, store, "a", tenure.WithAddress("10.0.0.1:80"), tenure.WithMetadata(metadata))
		metadata["zone"] = "changed by the caller"
		r := record(t, store)
		if r.Address != "10.0.0.1:80" || r.Metadata["zone"] != "north" || !r.ElectedAt.Equal(time.Now()) {
			t.Errorf("record = %+v", r)
		}
		time.Sleep(ttl)
		renewed := record(t, store)
		if !renewed.ElectedAt.Equal(r.ElectedAt) || !renewed.RenewedAt.After(r.RenewedAt) || renewed.Renewals <= r.Renewals {
			t.Errorf("record = %+v", renewed)
		}
		stop(t, a)
		if r := record(t, store); r.Address != "" || r.Metadata != nil || r.TTL != ttl {
			t.Errorf("a vacant record tells of a leader: %+v", r)
		}
	})
}

// "Why did it lose leadership at 14:02" has an answer.
func TestStatusTellsWhy(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		c, _ := start(t, store, "a")
		s := c.Status()
		if s.State != tenure.StateLeader || s.Trust != trust || s.Record.Leader != "a" || s.Record.Session != s.Session ||
			s.Election != name || s.ID != "a" || s.Watching || !s.LastRenewal.Equal(time.Now()) || s.SafetyMargin != trust {
			t.Errorf("status = %+v", s)
		}
		store.down.Store(true)
		time.Sleep(trust + time.Millisecond)
		s = c.Status()
		if s.State == tenure.StateLeader || s.Trust != 0 || !errors.Is(s.LastError, errOutage) {
			t.Errorf("status = %+v", s)
		}
		var story strings.Builder
		for _, d := range s.Decisions {
			story.WriteString(d.Input + " > " + d.Effect + ": " + d.Reason + "\n")
		}
		for _, part := range []string{
			"wrote > elected: the bid landed", "tick > write renew: the lease is due for renewal",
			"wrote: unknown > call failed", "tick > ended: the lease could not be renewed in time",
		} {
			if !strings.Contains(story.String(), part) {
				t.Errorf("the decisions do not tell %q:\n%s", part, &story)
			}
		}
		store.down.Store(false)
		stop(t, c)
		if s := c.Status().State; s != tenure.StateStopped {
			t.Errorf("state = %v", s)
		}
	})
}

func TestDecisionsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a")
		time.Sleep(time.Hour)
		decisions := c.Status().Decisions
		if n := len(decisions); n != 64 {
			t.Errorf("%d decisions are kept", n)
		}
		if !slices.IsSortedFunc(decisions, func(a, b tenure.Decision) int { return a.At.Compare(b.At) }) {
			t.Error("the decisions are not in order")
		}
		stop(t, c)
	})
}

func TestLogger(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c, _ := start(t, store, "a", tenure.WithLogger(logger))
		stop(t, c)
		for _, want := range []string{
			"level=INFO msg=elected election=billing candidate=a token=1", "level=DEBUG msg=decision",
			"level=INFO msg=ended election=billing candidate=a token=1", "level=INFO msg=released",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the log does not say %q:\n%s", want, &out)
			}
		}
	})
}

// A candidate of lower priority leaves a free seat to the others, but not for ever.
func TestPriority(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		low, _ := start(t, store, "low", tenure.WithPriority(-2))
		expectLeader(t, nil, low)
		time.Sleep(2*ttl/20 + time.Millisecond)
		expectLeader(t, low)
		high, _ := start(t, store, "high")
		lowest, _ := start(t, store, "lowest", tenure.WithPriority(-10))
		if err := low.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		expectLeader(t, high, low, lowest)
		stop(t, high, low)
		time.Sleep(ttl/2 + time.Millisecond)
		expectLeader(t, lowest)
		stop(t, lowest)
	})
}

// weak is a store that does not promise much.
type weak struct{ tenure.Store }

func (weak) Guarantee(context.Context) (tenure.Guarantee, error) {
	return tenure.Guarantee{Grade: tenure.GradeBestEffort, Reasons: []string{"it evicts records"}}, nil
}

func TestMinimumGrade(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, weak{store}, "a", tenure.WithMinimumGrade(tenure.GradeUntilFailover))
		err := c.Start(t.Context())
		if !errors.Is(err, tenure.ErrGrade) || !strings.Contains(err.Error(), "it evicts records") {
			t.Errorf("Start = %v", err)
		}
		c, _ = candidate(t, weak{store}, "a", tenure.WithMinimumGrade(tenure.GradeBestEffort))
		if err := c.Start(t.Context()); err != nil {
			t.Errorf("Start = %v", err)
		}
		stop(t, c)
	})
}
