package tenure_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

func TestAskTheLeaderThroughTheStore(t *testing.T) {
	for _, push := range []bool{true, false} {
		bubble(t, func(t *testing.T, inner *memory.Store) {
			var store tenure.Store = inner
			if !push {
				store = &away{Store: inner}
			}
			a, da := start(t, store, "a")
			b, _ := start(t, store, "b")
			c, _ := start(t, store, "c")
			if _, err := tenure.Ask(t.Context(), inner, name, tenure.Request{To: "c", By: "somebody"}); err != nil {
				t.Fatalf("Ask: %v", err)
			}
			time.Sleep(ttl/3 + ttl/5 + time.Millisecond)
			expectLeader(t, c, a, b)
			if e, ok := da.find(tenure.EventEnded); !ok || e.Reason != "on request" || !errors.Is(e.Err, tenure.ErrResigned) {
				t.Errorf("the end of the term was reported as %+v", e)
			}
			if r := record(t, inner); r.Request != nil || r.Token != 2 {
				t.Errorf("the request outlived its term: %+v", r)
			}
			stop(t, a, b, c)
		})
	}
}

func TestAskRefusals(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		_, err := tenure.Ask(t.Context(), store, name, tenure.Request{})
		if !errors.Is(err, tenure.ErrNotLeader) || !strings.Contains(err.Error(), `nobody leads "`+name+`"`) {
			t.Errorf("Ask = %v", err)
		}
		if _, err := tenure.Ask(t.Context(), store, "", tenure.Request{}); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("Ask = %v", err)
		}
		a, _ := start(t, store, "a")
		for _, to := range []string{"a", "b\x00"} {
			if _, err := tenure.Ask(t.Context(), store, name, tenure.Request{To: to}); !errors.Is(err, tenure.ErrConfig) {
				t.Errorf("Ask for %q = %v", to, err)
			}
		}
		stop(t, a)
	})
}

func TestPauseAndResume(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "a")
		b, _ := start(t, store, "b")
		if _, err := tenure.SetPause(t.Context(), store, name, tenure.Pause{By: "ops", Reason: "migration"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for range 100 {
			expectLeader(t, nil, a, b)
			time.Sleep(time.Minute)
		}
		if r := record(t, store); r.Pause == nil || r.Pause.Reason != "migration" || r.Pause.At.IsZero() || !r.Vacant() {
			t.Errorf("record = %+v", r)
		}
		for range 2 {
			if _, err := tenure.LiftPause(t.Context(), store, name); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if a.IsLeader() == b.IsLeader() {
			t.Errorf("after the pause: a leads %v, b leads %v", a.IsLeader(), b.IsLeader())
		}
		stop(t, a, b)
	})
}

func TestPauseOfAnElectionToCome(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		if _, err := tenure.SetPause(t.Context(), store, name, tenure.Pause{}); err != nil {
			t.Fatal(err)
		}
		a, _ := start(t, store, "a")
		time.Sleep(time.Hour)
		expectLeader(t, nil, a)
		stop(t, a)
	})
}

// S2: what is forgotten keeps its token.
func TestForgetKeepsTheToken(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, _ := start(t, store, "a", tenure.WithMetadata(map[string]string{"k": "v"}))
		if err := tenure.Forget(t.Context(), inner, name); !errors.Is(err, tenure.ErrHeld) {
			t.Errorf("Forget under a living leader = %v", err)
		}
		expectLeader(t, a)
		store.hangs.Store(true)
		time.Sleep(ttl) // what a sent before may have been seen as late as now
		if err := tenure.Forget(t.Context(), inner, name); err != nil {
			t.Errorf("Forget of a dead leader = %v", err)
		}
		if r := record(t, inner); !r.Vacant() || !r.Forgotten || r.Token != 1 || r.Metadata != nil {
			t.Errorf("record = %+v", r)
		}
		store.hangs.Store(false)
		stop(t, a)
		b, _ := start(t, inner, "b")
		if term, ok := b.Term(); !ok || term.Token <= 1 {
			t.Errorf("term = %+v, %v", term, ok)
		}
		if r := record(t, inner); r.Forgotten {
			t.Error("a term under a tombstone")
		}
		stop(t, b)
	})
}

// Requests and renewals start from the loaded record: fields of a later version survive both, and each other.
func TestUnknownFieldsSurvive(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		later := tenure.Record{Token: 4, Extra: map[string]json.RawMessage{"colour": json.RawMessage(`"green"`)}}
		if _, err := store.CompareAndSwap(t.Context(), name, "", later); err != nil {
			t.Fatal(err)
		}
		a, _ := start(t, store, "a")
		time.Sleep(time.Minute)
		if _, err := tenure.Ask(t.Context(), store, name, tenure.Request{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stop(t, a)
		if r := record(t, store); string(r.Extra["colour"]) != `"green"` || r.Token != 5 {
			t.Errorf("record = %+v", r)
		}
	})
}

func TestForgetKeepsAPause(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		if err := tenure.Forget(t.Context(), store, ""); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("Forget of no name = %v", err)
		}
		if err := tenure.Forget(t.Context(), store, name); err != nil || !record(t, store).ElectedAt.IsZero() {
			t.Errorf("Forget of what is not there = %v", err)
		}
		paused := tenure.Record{Token: 3, Pause: &tenure.Pause{By: "ops"}, Address: "10.0.0.1"}
		paused.Extra = map[string]json.RawMessage{"colour": json.RawMessage(`"green"`)}
		if _, err := store.CompareAndSwap(t.Context(), name, "", paused); err != nil {
			t.Fatal(err)
		}
		if err := tenure.Forget(t.Context(), store, name); err != nil {
			t.Errorf("Forget = %v", err)
		}
		if r := record(t, store); r.Token != 3 || !r.Forgotten || r.Pause == nil || r.Extra == nil || r.Address != "" {
			t.Errorf("record = %+v", r)
		}
	})
}

func TestOperationsSettleWhatIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		store.down.Store(true)
		time.AfterFunc(time.Minute, func() { store.down.Store(false) })
		if _, err := tenure.SetPause(t.Context(), store, name, tenure.Pause{}); err != nil {
			t.Errorf("SetPause = %v", err)
		}
		store.down.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := tenure.LiftPause(ctx, store, name); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("LiftPause = %v", err)
		}
	})
}
