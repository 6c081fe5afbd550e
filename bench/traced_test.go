package bench

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

func held(token uint64) tenure.Record {
	return tenure.Record{Token: token, Leader: "a", Session: "s", TTL: time.Second}
}

func TestTraceCountsByOutcomeAndCandidate(t *testing.T) {
	trace := newTrace()
	store := traced(memory.New(), trace, 3)
	if _, err := store.Load(t.Context(), "e"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.CompareAndSwap(t.Context(), "e", "", held(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.CompareAndSwap(t.Context(), "e", "", held(1)); !errors.Is(err, tenure.ErrConflict) {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.CompareAndSwap(over, "e", "", held(1)); err == nil {
		t.Fatal("a call with a context that has ended was accepted")
	}
	want := Calls{Loads: 1, Accepted: 1, Rejected: 1, Failed: 1}
	if got := trace.of(3); got != want || trace.all() != want || want.All() != 4 {
		t.Errorf("counted %+v, together %+v, want %+v", got, trace.all(), want)
	}
	if got := trace.of(4); got != (Calls{}) {
		t.Errorf("another candidate has %+v", got)
	}
}

func TestTracedStoreKeepsItsWatch(t *testing.T) {
	trace, store := newTrace(), memory.New()
	watcher, ok := traced(store, trace, 0).(tenure.Watcher)
	if !ok {
		t.Fatal("the store lost its watch")
	}
	if _, ok := traced(struct{ tenure.Store }{store}, trace, 0).(tenure.Watcher); ok {
		t.Fatal("a store that does not push got a watch")
	}
	seen := make(chan tenure.Snapshot, 10)
	stop, err := watcher.Watch(t.Context(), "e", func(s tenure.Snapshot, _ error) { seen <- s })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	<-seen
	if len(trace.vacant) != 1 {
		t.Errorf("the vacancy was noted %d times", len(trace.vacant))
	}
}

// A bid's reply may come before that of the release that it follows.
func TestChangesAreCountedInTheOrderOfSending(t *testing.T) {
	trace, start := newTrace(), time.Now()
	for _, s := range []swap{
		{token: 2, sent: start.Add(2)},                // the bid
		{token: 1, sent: start.Add(1), vacates: true}, // the release
		{token: 2, sent: start.Add(3)},                // a renewal
	} {
		trace.began()
		trace.swapped(s, nil)
	}
	if got := trace.changes(); got != 2 {
		t.Errorf("%d writes changed the leader, want 2", got)
	}
}

func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace, start := newTrace(), time.Now()
		trace.began()
		time.AfterFunc(time.Second, func() { trace.loaded(0, nil) })
		if err := trace.settle(t.Context(), 100*time.Millisecond, time.Minute); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(start); passed != 1100*time.Millisecond {
			t.Errorf("settled after %v, want the call's end and 100 ms", passed)
		}
		trace.began() // and never ends
		if err := trace.settle(t.Context(), 100*time.Millisecond, time.Minute); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(start); passed < time.Minute || passed > 2*time.Minute {
			t.Errorf("gave up after %v, want a minute", passed)
		}
	})
}
