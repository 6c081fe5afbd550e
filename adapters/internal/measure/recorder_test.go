package measure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure"
	"github.com/tenure-go/tenure/adapters/internal/measure/measuretest"
)

func TestTermsAreCountedByReason(t *testing.T) {
	for reason, end := range map[string]func(t *testing.T, c *tenure.Candidate, s *faulty, sick chan<- struct{}){
		"resigned": func(t *testing.T, c *tenure.Candidate, _ *faulty, _ chan<- struct{}) {
			if err := c.Resign(context.Background()); err != nil {
				t.Error(err)
			}
		},
		"stopped":       func(t *testing.T, c *tenure.Candidate, _ *faulty, _ chan<- struct{}) { measuretest.Stop(t, c) },
		"lease_expired": func(_ *testing.T, _ *tenure.Candidate, s *faulty, _ chan<- struct{}) { s.fail(errOutage) },
		"unhealthy":     func(_ *testing.T, _ *tenure.Candidate, _ *faulty, sick chan<- struct{}) { close(sick) },
		"revoked":       func(_ *testing.T, _ *tenure.Candidate, s *faulty, _ chan<- struct{}) { s.revoked.Store(true) },
		"deposed": func(t *testing.T, _ *tenure.Candidate, s *faulty, _ chan<- struct{}) {
			seen, err := s.Store.Load(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			r := tenure.Record{Token: seen.Record.Token + 1, Leader: "x", Session: "x", TTL: ttl}
			if _, err := s.Store.CompareAndSwap(context.Background(), name, seen.Version, r); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(reason, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bed) {
				store, sick := &faulty{Store: b.store}, make(chan struct{})
				c := b.start(t, store, "a", tenure.WithHealthCheck(func(context.Context) error {
					select {
					case <-sick:
						return errors.New("sick")
					default:
						return nil
					}
				}, time.Second))
				b.expect(t, of("tenure_terms_started_total", "a"), 1)
				end(t, c, store, sick)
				time.Sleep(ttl)
				for _, r := range measure.Reasons() {
					want := 0.0
					if r == reason {
						want = 1
					}
					b.expect(t, of("tenure_terms_ended_total", "a", "reason="+r), want)
				}
				store.heal()
				store.revoked.Store(false)
				measuretest.Stop(t, c)
			})
		})
	}
	if got := measure.Reason(errors.New("x")); got != "other" {
		t.Errorf("an unknown cause is %q", got)
	}
}

func TestStoreErrorsAreCountedByKind(t *testing.T) {
	for kind, err := range map[string]error{
		"not_applied": tenure.NotApplied(errOutage, 0),
		"permanent":   tenure.Permanent(errOutage),
		"timeout":     fmt.Errorf("calling: %w", context.DeadlineExceeded),
		"unknown":     errOutage,
	} {
		bubble(t, func(t *testing.T, b *bed) {
			store := &faulty{Store: b.store}
			c := b.start(t, store, "a", tenure.WithRenewInterval(ttl/4))
			store.fail(err)
			time.Sleep(ttl / 4)
			store.heal()
			for _, k := range measure.Kinds() {
				series := of("tenure_store_errors_total", "a", "kind="+k)
				if got := b.get(series); (got > 0) != (k == kind) {
					t.Errorf("after %v: %s is %v", err, series, got)
				}
			}
			operation := "tenure_store_call_duration_seconds{operation=compare_and_swap,outcome=" + kind + "}"
			if b.get("#"+operation) == 0 {
				t.Errorf("after %v: no call ended in %q", err, kind)
			}
			measuretest.Stop(t, c)
		})
	}
}

// A renewal's duration is that of its call, and the safety margin what was left of the lease when it came back.
func TestRenewalsAreMeasured(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		store := &faulty{Store: b.store}
		c := b.start(t, store, "a", tenure.WithRenewInterval(ttl/4))
		store.delay.Store(int64(time.Second))
		for range 4 {
			before := c.Status().LastRenewal
			left := c.Status().Trust
			start := time.Now()
			for c.Status().LastRenewal.Equal(before) {
				time.Sleep(10 * time.Millisecond)
			}
			synctest.Wait()
			margin := (left - c.Status().LastRenewal.Sub(start)).Seconds() / ttl.Seconds()
			b.expect(t, of("tenure_renewal_duration_seconds", "a"), 1)
			b.expect(t, of("tenure_safety_margin_ratio", "a"), margin)
			b.expect(t, "#"+of("tenure_renewal_duration_seconds", "a"), 1)
			b.reset(of("tenure_renewal_duration_seconds", "a"), "#"+of("tenure_renewal_duration_seconds", "a"),
				of("tenure_safety_margin_ratio", "a"))
		}
		store.delay.Store(0)
		// An event that comes late finds the renewal that was measured already.
		b.reset("#" + of("tenure_renewal_duration_seconds", "a"))
		b.recorder.Event(tenure.Event{Kind: tenure.EventRenewed, Election: name, Candidate: "a"})
		b.expect(t, "#"+of("tenure_renewal_duration_seconds", "a"), 0)
		measuretest.Stop(t, c)
	})
}

func TestGauges(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		a := b.start(t, b.store, "a", tenure.WithRenewInterval(ttl/4))
		c := b.start(t, b.store, "c")
		for candidate, leads := range map[string]float64{"a": 1, "c": 0} {
			b.expectGauge(t, measure.Leader, candidate, leads)
			b.expectGauge(t, measure.LeaseRemaining, candidate, leads*7.899999) // 0.99·10 - 2, and the grain of the clocks
			b.expectGauge(t, measure.Token, candidate, 1)
			b.expectGauge(t, measure.LeaseTTL, candidate, 10)
			b.expectGauge(t, measure.Leaderless, candidate, 0)
		}
		time.Sleep(time.Second)
		b.expectGauge(t, measure.LeaseRemaining, "a", 6.899999)
		measuretest.Stop(t, a, c)
		b.expectGauge(t, measure.Leader, "a", 0)
		b.expectGauge(t, measure.Leaderless, "a", -1) // it knows nothing of the present
	})
}

func TestLeaderlessTime(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		store := &faulty{Store: b.store}
		store.fail(errOutage)
		a := b.start(t, store, "a")
		time.Sleep(7 * time.Second)
		b.expectGauge(t, measure.Leaderless, "a", 7) // nothing was ever seen
		store.heal()
		time.Sleep(ttl)
		b.expectGauge(t, measure.Leaderless, "a", 0)
		c := b.start(t, b.store, "c", tenure.WithPriority(-10))
		if _, err := tenure.SetPause(context.Background(), b.store, name, tenure.Pause{By: "test"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		synctest.Wait()
		b.expectGauge(t, measure.Paused, "c", 1)
		if got := b.gauge(measure.Leaderless, "c"); got < 5 || got > 10 {
			t.Errorf("paused for 10 s, leaderless for %v", got)
		}
		if _, err := tenure.LiftPause(context.Background(), b.store, name); err != nil {
			t.Fatal(err)
		}
		measuretest.Stop(t, c)
		time.Sleep(ttl)
		b.expectGauge(t, measure.Leaderless, "a", 0)
		b.expectGauge(t, measure.Paused, "a", 0)
		measuretest.Stop(t, a)
	})
	// A leader that is silent: leaderless begins when its lease has run out.
	bubble(t, func(t *testing.T, b *bed) {
		r := tenure.Record{Token: 5, Leader: "x", Session: "x", TTL: ttl}
		if _, err := b.store.CompareAndSwap(context.Background(), name, "", r); err != nil {
			t.Fatal(err)
		}
		a := b.start(t, b.store, "a", tenure.WithPriority(-10)) // 5 s later than others
		time.Sleep(ttl)
		b.expectGauge(t, measure.Leaderless, "a", 0)
		time.Sleep(3 * time.Second)
		b.expectGauge(t, measure.Leaderless, "a", 3)
		measuretest.Stop(t, a)
	})
}

func TestHandoversAreTimed(t *testing.T) {
	const release, silence = "tenure_handover_duration_seconds{election=billing,after=release}",
		"tenure_handover_duration_seconds{election=billing,after=silence}"
	for what, c := range map[string]struct {
		polls   bool
		release bool
		least   float64
		most    float64
	}{
		"released, pushed": {false, true, 0, 0},
		"released, polled": {true, true, 0, 2},
		"silent, pushed":   {false, false, 10, 10.2},
		"silent, polled":   {true, false, 10, 12.2},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bed) {
				own := &faulty{Store: b.store}
				leader, err := tenure.New(own, name, tenure.WithTTL(ttl)) // in another process
				if err != nil {
					t.Fatal(err)
				}
				if won, err := leader.TryAcquire(context.Background()); !won || err != nil {
					t.Fatal(won, err)
				}
				leader.Idle()
				follower := tenure.Store(b.store)
				if c.polls {
					follower = &faulty{Store: b.store}
				}
				a := b.start(t, follower, "a")
				time.Sleep(ttl)
				b.expect(t, "#"+release, 0)
				b.expect(t, "#"+silence, 0)
				if c.release {
					measuretest.Stop(t, leader)
				} else {
					own.fail(errOutage)
				}
				time.Sleep(2 * ttl)
				want, other := silence, release
				if c.release {
					want, other = release, silence
				}
				b.expect(t, "#"+want, 1)
				b.expect(t, "#"+other, 0)
				if got := b.get(want); got < c.least || got > c.most {
					t.Errorf("the hand-over took %v", got)
				}
				measuretest.Stop(t, a, leader)
			})
		})
	}
}

// Time during which an operator keeps the seat vacant is no hand-over, whenever the pause began.
func TestPausesAreNoHandovers(t *testing.T) {
	for _, first := range []string{"pause", "release"} {
		bubble(t, func(t *testing.T, b *bed) {
			a := b.start(t, b.store, "a")
			c := b.start(t, b.store, "c", tenure.WithPriority(-10))
			steps := []func(){
				func() {
					if _, err := tenure.SetPause(context.Background(), b.store, name, tenure.Pause{By: "t"}); err != nil {
						t.Fatal(err)
					}
				},
				func() { measuretest.Stop(t, a) },
			}
			if first == "release" {
				steps[0], steps[1] = steps[1], steps[0]
			}
			for _, step := range steps {
				step()
				synctest.Wait()
			}
			time.Sleep(time.Hour)
			if _, err := tenure.LiftPause(context.Background(), b.store, name); err != nil {
				t.Fatal(err)
			}
			time.Sleep(ttl)
			if !c.IsLeader() {
				t.Error("nobody leads")
			}
			b.expect(t, "#tenure_handover_duration_seconds{election=billing,after=release}", 0)
			b.expect(t, "#tenure_handover_duration_seconds{election=billing,after=silence}", 0)
			measuretest.Stop(t, c)
		})
	}
}

// Snapshots that overtake each other, on their way from pushes and replies, neither end nor begin a hand-over twice.
func TestOldSnapshotsAreIgnored(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		c, err := tenure.New(b.store, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.recorder.Add(c); err != nil {
			t.Fatal(err)
		}
		see := func(token, renewals uint64, leader string) {
			time.Sleep(time.Second)
			b.recorder.Seen(name, tenure.Snapshot{Version: "v", Record: tenure.Record{
				Token: token, Renewals: renewals, Leader: leader, Session: leader, TTL: ttl,
			}})
		}
		see(4, 1, "a")
		see(4, 3, "a")
		see(4, 2, "a") // old
		see(4, 0, "")
		see(4, 3, "a") // old
		see(4, 0, "")  // known
		see(5, 4, "b")
		see(4, 0, "") // old
		see(5, 4, "b")
		b.expect(t, "#tenure_handover_duration_seconds{election=billing,after=release}", 1)
		b.expect(t, "tenure_handover_duration_seconds{election=billing,after=release}", 3)
		b.expect(t, "#tenure_handover_duration_seconds{election=billing,after=silence}", 0)
		b.recorder.Seen("other", tenure.Snapshot{Version: "v", Record: tenure.Record{Token: 1, Leader: "x"}})
		for _, s := range b.known() {
			if strings.Contains(s, "election=other") {
				t.Errorf("an election without candidates has the series %s", s)
			}
		}
	})
}

// Who polls may see the next leader without having seen the vacancy. Nobody can take the seat of a leader that is only
// silent before its lease has run out.
func TestVacanciesThatWereNotSeen(t *testing.T) {
	for after, wait := range map[string]time.Duration{"release": ttl - 1, "silence": ttl} {
		bubble(t, func(t *testing.T, b *bed) {
			c, err := tenure.New(b.store, name)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.recorder.Add(c); err != nil {
				t.Fatal(err)
			}
			b.recorder.Seen(name, tenure.Snapshot{Record: tenure.Record{Token: 4, Leader: "a", Session: "a", TTL: ttl}})
			time.Sleep(wait)
			b.recorder.Seen(name, tenure.Snapshot{Record: tenure.Record{Token: 5, Leader: "b", Session: "b", TTL: ttl}})
			b.expect(t, "tenure_handover_duration_seconds{election=billing,after="+after+"}", wait.Seconds())
		})
	}
}

func TestSeriesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		a := b.start(t, b.store, "a")
		c := b.start(t, b.store, "c")
		twin, err := tenure.New(b.store, name, tenure.WithID("a"))
		if err != nil {
			t.Fatal(err)
		}
		for what, candidate := range map[string]*tenure.Candidate{"again": a, "a twin": twin, "nil": nil} {
			if err := b.recorder.Add(candidate); !errors.Is(err, tenure.ErrConfig) {
				t.Errorf("%s: %v", what, err)
			}
		}
		b.recorder.Remove(nil)
		b.recorder.Remove(twin) // which is not a
		b.expect(t, of("tenure_terms_started_total", "a"), 1)

		b.recorder.Remove(a)
		measuretest.Stop(t, a) // has events, which nobody counts
		synctest.Wait()
		measuretest.Stop(t, c)
		b.recorder.Event(tenure.Event{Kind: tenure.EventElected, Election: name, Candidate: "a"})
		for _, s := range b.known() {
			if strings.Contains(s, "candidate=a") {
				t.Errorf("%s is left", s)
			}
		}
		b.expect(t, of("tenure_terms_started_total", "c"), 1)
		b.expect(t, "#tenure_handover_duration_seconds{election=billing,after=release}", 1)
		b.recorder.Remove(c)
		for _, s := range b.known() {
			if strings.Contains(s, "election=") {
				t.Errorf("%s is left", s)
			}
		}
		if got := b.gauge(measure.Leader, "a"); got != -1 {
			t.Errorf("a gauge of a removed candidate is %v", got)
		}
	})
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range measure.Metrics {
		if m.Name == "" || m.Help == "" || m.Unit == "" || len(m.Labels) == 0 || seen[m.Exposed()] ||
			!strings.HasSuffix(m.Help, ".") || (m.Kind == measure.Histogram) != (len(m.Buckets) > 0) {
			t.Errorf("%+v is incomplete", m)
		}
		seen[m.Exposed()] = true
	}
	for id, want := range map[measure.ID]string{
		measure.Leader: "tenure_leader", measure.TermsEnded: "tenure_terms_ended_total",
		measure.SafetyMargin: "tenure_safety_margin_ratio", measure.StoreCallDuration: "tenure_store_call_duration_seconds",
	} {
		if got := measure.Metrics[id].Exposed(); got != want {
			t.Errorf("%s is exposed as %s", measure.Metrics[id].Name, got)
		}
	}
}
