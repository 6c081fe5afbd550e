package memory_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

// TestStore has all rules share one store, so that they run among one another's records.
func TestStore(t *testing.T) {
	store := memory.New()
	open := func(*testing.T) tenure.Store { return store }
	remove := func(_ *testing.T, election string) { store.Delete(election) }
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

func TestFreshStore(t *testing.T) {
	tenuretest.Run(t, func(*testing.T) tenure.Store { return memory.New() })
}

func held(token uint64) tenure.Record {
	return tenure.Record{Token: token, Leader: "a", Session: "s", TTL: tenure.DefaultTTL}
}

func swap(t *testing.T, store tenure.Store, election string, old tenure.Version, record tenure.Record) tenure.Snapshot {
	t.Helper()
	snapshot, err := store.CompareAndSwap(t.Context(), election, old, record)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func load(t *testing.T, store tenure.Store, election string) tenure.Snapshot {
	t.Helper()
	snapshot, err := store.Load(t.Context(), election)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// TestVersionsOfAnotherStore keeps a version of an earlier store of the process from meaning anything in a later one.
func TestVersionsOfAnotherStore(t *testing.T) {
	seen := make(map[tenure.Version]bool)
	for range 100 {
		version := swap(t, memory.New(), "e", "", held(1)).Version
		if seen[version] {
			t.Fatalf("two stores have Version %q", version)
		}
		seen[version] = true
	}
}

func TestErrorsSayWhatIsKnown(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	store := memory.New()
	_, err := store.CompareAndSwap(ended, "e", "", held(1))
	if !errors.Is(err, tenure.ErrNotApplied) || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context CompareAndSwap returned %v", err)
	}
	for call, err := range everyCall(ended, store) {
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "memory: ") {
			t.Errorf("with an ended context %s returned %v", call, err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for call, err := range everyCall(t.Context(), store) {
		if !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("after Close %s returned %v", call, err)
		}
	}
}

func everyCall(ctx context.Context, store *memory.Store) map[string]error {
	_, load := store.Load(ctx, "e")
	_, swap := store.CompareAndSwap(ctx, "e", "", held(1))
	_, watch := store.Watch(ctx, "e", func(tenure.Snapshot, error) {})
	_, list := store.List(ctx)
	_, prune := store.Prune(ctx, 0)
	_, guarantee := store.Guarantee(ctx)
	return map[string]error{
		"Load": load, "CompareAndSwap": swap, "Watch": watch, "List": list, "Prune": prune, "Guarantee": guarantee,
	}
}

func TestPruneByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		created := swap(t, store, "old", "", held(7))
		swap(t, store, "old", created.Version, tenure.Record{Token: 7})
		time.Sleep(time.Minute)
		created = swap(t, store, "young", "", held(9))
		swap(t, store, "young", created.Version, tenure.Record{Token: 9})
		for _, want := range [][]string{{"old"}, nil} {
			got, err := store.Prune(t.Context(), time.Minute)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("Prune returned %q and the error %v, want %q", got, err, want)
			}
		}
		time.Sleep(time.Minute)
		for _, election := range []string{"z", "a", "m"} {
			swap(t, store, election, "", tenure.Record{Token: 7})
		}
		if got, _ := store.Prune(t.Context(), 0); !slices.Equal(got, []string{"a", "m", "young", "z"}) {
			t.Errorf("Prune returned %q", got)
		}
		if got := load(t, store, "old").Record.Token; got != 9 {
			t.Errorf("the floor is %d, want 9", got)
		}
	})
}

// TestFloor: a new record starts above what was pruned; a vacant one may stand on it, so that an election can be
// paused before it has ever had a leader.
func TestFloor(t *testing.T) {
	store := memory.New()
	swap(t, store, "pruned", "", tenure.Record{Token: 5})
	if _, err := store.Prune(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	vacant := func(token uint64) tenure.Record { return tenure.Record{Token: token, Pause: &tenure.Pause{}} }
	for _, try := range []struct {
		record   tenure.Record
		accepted bool
	}{
		{held(4), false}, {held(5), false}, {held(6), true}, {vacant(4), false}, {vacant(5), true},
	} {
		name := fmt.Sprintf("new-%d-%s", try.record.Token, try.record.Leader)
		_, err := store.CompareAndSwap(t.Context(), name, "", try.record)
		if (err == nil) != try.accepted || err != nil && !errors.Is(err, tenure.ErrConflict) {
			t.Errorf("a new record with Token %d and the leader %q: %v", try.record.Token, try.record.Leader, err)
		}
	}
}

func TestDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		box := watch(t, store, "e")
		swap(t, store, "e", "", held(7))
		synctest.Wait()
		store.Delete("e")
		store.Delete("never was")
		synctest.Wait()
		if got := load(t, store, "e"); got.Exists() || got.Record.Token != 0 {
			t.Errorf("after Delete there is Version %q with Token %d", got.Version, got.Record.Token)
		}
		if got := box.existing(); !slices.Equal(got, []bool{false, true, false}) {
			t.Errorf("delivered were records that exist: %v", got)
		}
	})
}

// inbox keeps what a watch delivers.
type inbox struct {
	mu        sync.Mutex
	snapshots []tenure.Snapshot
	errs      []error
	stop      func()
}

func (b *inbox) deliver(snapshot tenure.Snapshot, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.snapshots, b.errs = append(b.snapshots, snapshot), append(b.errs, err)
}

func (b *inbox) existing() (existing []bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, snapshot := range b.snapshots {
		existing = append(existing, snapshot.Exists())
	}
	return existing
}

// watch begins to watch and waits for the first delivery. It has to be called in a bubble.
func watch(t *testing.T, store *memory.Store, election string) *inbox {
	t.Helper()
	box := new(inbox)
	stop, err := store.Watch(t.Context(), election, box.deliver)
	if err != nil {
		t.Fatal(err)
	}
	box.stop = stop
	synctest.Wait()
	return box
}

func TestCloseTellsWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		first, second, stopped := watch(t, store, "e"), watch(t, store, "f"), watch(t, store, "e")
		stopped.stop()
		for range 2 {
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for _, box := range []*inbox{first, second} {
			if n := len(box.errs); n != 2 || !errors.Is(box.errs[1], tenure.ErrPermanent) {
				t.Errorf("delivered were the errors %v", box.errs)
			}
			box.stop()
		}
		if n := len(stopped.errs); n != 1 {
			t.Errorf("%d deliveries to a stopped watch", n)
		}
	})
}

// TestCloseWaits: nothing is delivered after Close has returned.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		delivering := 0
		for range 3 {
			_, err := store.Watch(t.Context(), "e", func(tenure.Snapshot, error) {
				delivering++
				time.Sleep(time.Second)
				delivering--
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		start := time.Now()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); delivering != 0 || waited < 3*time.Second {
			t.Errorf("Close returned after %v with %d deliveries under way", waited, delivering)
		}
	})
}

// TestStopWaits: stop returns after the delivery that is under way, and the ones queued behind it never happen.
func TestStopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		delivered := 0
		stop, err := store.Watch(t.Context(), "e", func(tenure.Snapshot, error) {
			time.Sleep(time.Second)
			delivered++
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		swap(t, store, "e", "", held(1))
		stop()
		if delivered != 1 {
			t.Errorf("when stop returned %d deliveries were complete", delivered)
		}
		time.Sleep(time.Minute)
		if delivered != 1 {
			t.Errorf("%d deliveries came after stop", delivered-1)
		}
	})
}

// TestMergesChanges: a watch that was busy gets the last of what it missed, not all of it.
func TestMergesChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		busy := make(chan struct{})
		var versions []tenure.Version
		stop, err := store.Watch(t.Context(), "e", func(snapshot tenure.Snapshot, _ error) {
			<-busy
			versions = append(versions, snapshot.Version)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		synctest.Wait()
		var current tenure.Snapshot
		for range 100 {
			current = swap(t, store, "e", current.Version, held(1))
		}
		close(busy)
		synctest.Wait()
		if want := []tenure.Version{"", current.Version}; !slices.Equal(versions, want) {
			t.Errorf("delivered were %q, want %q", versions, want)
		}
	})
}

// TestLeavesNothingBehind: a bubble ends only when its goroutines have, so neither a watch nor Close may be needed.
func TestLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		box := watch(t, store, "e")
		swap(t, store, "e", "", held(1))
		synctest.Wait()
		if got := box.existing(); !slices.Equal(got, []bool{false, true}) {
			t.Errorf("delivered were records that exist: %v", got)
		}
	})
}

// TestCost holds ten thousand watched elections to their share of a candidate's memory, to no goroutine, and to
// leaving next to nothing behind.
func TestCost(t *testing.T) {
	const elections, most, left = 10_000, 1024, 128 // bytes each
	names := make([]string, elections)
	for i := range names {
		names[i] = fmt.Sprintf("election-%05d", i)
	}
	store := memory.New()
	stops := make([]func(), elections)
	before, goroutines := heap(), runtime.NumGoroutine()
	for i, name := range names {
		swap(t, store, name, "", held(1))
		stop, err := store.Watch(t.Context(), name, func(tenure.Snapshot, error) {})
		if err != nil {
			t.Fatal(err)
		}
		stops[i] = stop
	}
	if more := runtime.NumGoroutine() - goroutines; more > 1 {
		t.Errorf("%d goroutines more for %d watches", more, elections)
	}
	each := (heap() - before) / elections
	t.Logf("%d bytes for each election with its watch", each)
	if each > most {
		t.Errorf("an election with its watch takes %d bytes, more than %d", each, most)
	}
	for i, name := range names {
		if i%2 == 0 {
			stops[i]()
		}
		store.Delete(name)
		stops[i]()
	}
	clear(stops)
	if each := (heap() - before) / elections; each > left {
		t.Errorf("an election that is gone takes %d bytes, more than %d", each, left)
	}
	runtime.KeepAlive(store)
}

// heap returns the bytes in use.
func heap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools have let go
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

func BenchmarkCompareAndSwap(b *testing.B) {
	store := memory.New()
	stop, err := store.Watch(b.Context(), "e", func(tenure.Snapshot, error) {})
	if err != nil {
		b.Fatal(err)
	}
	defer stop()
	record := held(1)
	var current tenure.Snapshot
	b.ReportAllocs()
	for b.Loop() {
		if current, err = store.CompareAndSwap(b.Context(), "e", current.Version, record); err != nil {
			b.Fatal(err)
		}
	}
}
