package tenure_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// mute is a store whose watches can go silent, or fail to be set up.
type mute struct {
	*memory.Store
	silent, refuses atomic.Bool
	watches, calls  atomic.Int64
	stopped         atomic.Int64
}

func (m *mute) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	m.watches.Add(1)
	if m.refuses.Load() {
		return nil, errOutage
	}
	dead := new(atomic.Bool) // a watch that went silent stays so
	cancel, err := m.Store.Watch(ctx, election, func(s tenure.Snapshot, err error) {
		if m.silent.Load() {
			dead.Store(true)
		}
		if !dead.Load() {
			deliver(s, err)
		}
	})
	return func() { m.stopped.Add(1); cancel() }, err
}

func (m *mute) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	m.calls.Add(1)
	return m.Store.Load(ctx, election)
}

func (m *mute) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	m.calls.Add(1)
	return m.Store.CompareAndSwap(ctx, election, old, r)
}

// While the watch delivers, a candidate that stands by sends nothing at all.
func TestStandingBySendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &mute{Store: inner}
		a, _ := start(t, inner, "a")
		b, _ := start(t, store, "b")
		time.Sleep(time.Hour)
		if n := store.calls.Load(); n != 0 {
			t.Errorf("%d calls in an hour of standing by", n)
		}
		if !b.Status().Watching {
			t.Error("b polls")
		}
		stop(t, a, b)
	})
}

// A watch that silently stops delivering is noticed within a lease, and set up anew.
func TestSilentWatchIsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &mute{Store: inner}
		a, _ := start(t, inner, "a")
		b, _ := start(t, store, "b")
		store.silent.Store(true)
		time.Sleep(ttl / 2)
		store.silent.Store(false)
		time.Sleep(2 * ttl)
		expectLeader(t, a, b)
		if n, m := store.watches.Load(), store.stopped.Load(); n != 2 || m != 1 || !b.Status().Watching {
			t.Errorf("%d watches were set up, %d stopped, watching: %v", n, m, b.Status().Watching)
		}
		calls := store.calls.Load()
		time.Sleep(time.Hour)
		if n := store.calls.Load() - calls; n != 0 {
			t.Errorf("%d calls in an hour of standing by", n)
		}
		stop(t, a)
		synctest.Wait()
		expectLeader(t, b)
		stop(t, b)
		if n := store.stopped.Load(); n != 2 {
			t.Errorf("%d of two watches were stopped", n)
		}
	})
}

// A watch that cannot be set up leaves the candidate polling, and is tried again.
func TestWatchThatCannotBeSetUp(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &mute{Store: inner}
		store.refuses.Store(true)
		a, _ := start(t, inner, "a")
		b, d := start(t, store, "b")
		time.Sleep(time.Minute)
		a.Idle()
		stop(t, a)
		time.Sleep(ttl / 5)
		synctest.Wait()
		expectLeader(t, b)
		if b.Status().Watching || d.count(tenure.EventEnded) != 0 {
			t.Errorf("status = %+v", b.Status())
		}
		store.refuses.Store(false)
		time.Sleep(time.Minute)
		if !b.Status().Watching {
			t.Error("the watch was not tried again")
		}
		stop(t, b)
	})
}
