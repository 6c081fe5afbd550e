package tenure_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// observe collects what an observer sees, as words, until stop is called.
func observe(t *testing.T, store tenure.Store) (stop func() []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []string)
	go func() {
		var seen []string
		for change, err := range tenure.Observe(ctx, store, name) {
			if err != nil {
				seen = append(seen, "error")
				continue
			}
			seen = append(seen, strings.TrimSpace(change.Kind.String()+" "+change.Record.Leader))
		}
		done <- seen
	}()
	synctest.Wait()
	return func() []string {
		synctest.Wait()
		cancel()
		return <-done
	}
}

func TestObserve(t *testing.T) {
	for _, push := range []bool{true, false} {
		bubble(t, func(t *testing.T, inner *memory.Store) {
			var store tenure.Store = inner
			if !push {
				store = &away{Store: inner}
			}
			crashing := &away{Store: inner}
			stopObserving := observe(t, store)
			settle := func() { time.Sleep(ttl/5 + time.Second) }
			settle()
			a, _ := start(t, inner, "a")
			time.Sleep(time.Hour)
			settle()
			stop(t, a)
			settle()
			b, _ := start(t, crashing, "b")
			settle()
			crashing.hangs.Store(true)
			time.Sleep(2 * ttl)
			crashing.hangs.Store(false)
			time.Sleep(2 * ttl)
			if _, err := tenure.SetPause(t.Context(), inner, name, tenure.Pause{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(ttl)
			stop(t, b)
			settle()
			inner.Delete(name)
			settle()
			settle() // it takes some looks to believe that
			got := stopObserving()
			want := []string{"first", "elected a", "released", "elected b", "silent b", "elected b", "paused b", "released", "lost"}
			if !slices.Equal(got, want) {
				t.Errorf("push %v: observed %q, want %q", push, got, want)
			}
		})
	}
}

// TestObserveRenewals: who asks for them hears of renewals, and always from when the silence of a leader counts.
func TestObserveRenewals(t *testing.T) {
	for _, push := range []bool{true, false} {
		bubble(t, func(t *testing.T, inner *memory.Store) {
			var observed tenure.Store = inner
			if !push {
				observed = &away{Store: inner}
			}
			crashing := &away{Store: inner}
			a, _ := start(t, crashing, "a")
			ctx, cancel := context.WithTimeout(t.Context(), 10*ttl)
			defer cancel()
			renewed, last := 0, tenure.Change{}
			for change, err := range tenure.Observe(ctx, observed, name, tenure.WithRenewals()) {
				switch changed := change.Record.Renewals != last.Record.Renewals; {
				case err != nil:
					t.Errorf("push %v: %v", push, err)
				case changed && time.Since(change.UnchangedSince) != 0:
					t.Errorf("push %v: the count did not begin with %+v", push, change)
				case !changed && !change.UnchangedSince.Equal(last.UnchangedSince):
					t.Errorf("push %v: the count began anew with %+v", push, change)
				case change.Kind == tenure.ChangeSilent && time.Since(change.UnchangedSince) < ttl:
					t.Errorf("push %v: said to be silent after %v", push, time.Since(change.UnchangedSince))
				}
				if change.Kind == tenure.ChangeRenewed {
					renewed++
					crashing.hangs.Store(renewed >= 9)
				}
				last = change
			}
			crashing.hangs.Store(false)
			if renewed != 9 || last.Kind != tenure.ChangeSilent {
				t.Errorf("push %v: %d renewals, and then %v", push, renewed, last.Kind)
			}
			stop(t, a)
		})
	}
}

// TestObserveRegained: who asks for renewals hears that the store is back, though nothing may ever change again.
func TestObserveRegained(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var seen []string
		for change, err := range tenure.Observe(ctx, store, name, tenure.WithRenewals()) {
			store.down.Store(len(seen) == 0)
			if err != nil {
				seen = append(seen, "error")
			} else {
				seen = append(seen, change.Kind.String())
			}
		}
		if want := []string{"first", "error", "regained"}; !slices.Equal(seen, want) {
			t.Errorf("observed %q, want %q", seen, want)
		}
	})
}

func TestObserveGoesOnAfterFailures(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, _ := start(t, inner, "a")
		stopObserving := observe(t, store)
		store.down.Store(true)
		time.Sleep(time.Hour)
		store.down.Store(false)
		time.Sleep(2 * time.Minute)
		stop(t, a)
		time.Sleep(time.Minute)
		got := stopObserving()
		failures := 0
		for _, s := range got {
			if s == "error" {
				failures++
			}
		}
		if failures < 2 || failures > 3600 || got[0] != "first a" || got[len(got)-1] != "released" {
			t.Errorf("observed %q", got)
		}
	})
}

func TestObserveEndsOnAPermanentFailure(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		permanent := tenure.Permanent(errors.New("no permission"))
		store.fault.Store(&permanent)
		n := 0
		for _, err := range tenure.Observe(t.Context(), store, name) {
			if n++; !errors.Is(err, tenure.ErrPermanent) {
				t.Errorf("error = %v", err)
			}
		}
		for _, err := range tenure.Observe(t.Context(), inner, "") {
			if n++; !errors.Is(err, tenure.ErrConfig) {
				t.Errorf("error = %v", err)
			}
		}
		if n != 2 {
			t.Errorf("%d steps", n)
		}
	})
}

func TestObserveCanBeLeft(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		for change := range tenure.Observe(t.Context(), store, name) {
			if change.Kind != tenure.ChangeFirst || change.Exists || change.Led() {
				t.Errorf("change = %+v", change)
			}
			break
		}
	})
}
