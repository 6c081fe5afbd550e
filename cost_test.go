package tenure_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

func leading(tb testing.TB) *tenure.Candidate {
	tb.Helper()
	c, err := tenure.New(memory.New(), name)
	if err != nil {
		tb.Fatal(err)
	}
	if won, err := c.TryAcquire(tb.Context()); !won || err != nil {
		tb.Fatalf("TryAcquire = %v, %v", won, err)
	}
	tb.Cleanup(func() {
		c.Idle()
		_ = c.Stop(context.Background())
	})
	return c
}

func TestIsLeaderDoesNotAllocate(t *testing.T) {
	c := leading(t)
	term, _ := c.Term()
	if n := testing.AllocsPerRun(1000, func() {
		if c.State() != tenure.StateLeader || !c.IsLeader() || !term.Valid() {
			t.Error("not leading")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkIsLeader(b *testing.B) {
	c := leading(b)
	for b.Loop() {
		if !c.IsLeader() {
			b.Fatal("not leading")
		}
	}
}

func BenchmarkClock(b *testing.B) { // what of it is the clock's
	for b.Loop() {
		_ = time.Now()
	}
}

// crowd has n candidates stand by, each in an election of its own that another process leads, and measures what each
// of them takes.
func crowd(tb testing.TB, n int) (bytes, goroutines float64) {
	tb.Helper()
	store := memory.New()
	held := tenure.Record{Token: 1, Leader: "another", Session: "s", TTL: time.Hour}
	for i := range n {
		if _, err := store.CompareAndSwap(tb.Context(), fmt.Sprint("election-", i), "", held); err != nil {
			tb.Fatal(err)
		}
	}
	before, running := heap(), runtime.NumGoroutine()
	candidates := make([]*tenure.Candidate, n)
	for i := range candidates {
		c, err := tenure.New(store, fmt.Sprint("election-", i), tenure.WithID("me"))
		if err != nil {
			tb.Fatal(err)
		}
		if err := c.Start(tb.Context()); err != nil {
			tb.Fatal(err)
		}
		candidates[i] = c
		// One at a time: what the runtime keeps of goroutines that have ended depends on how many there were at once.
		for !c.Status().Watching || runtime.NumGoroutine()-running > i+10 {
			runtime.Gosched()
		}
	}
	for runtime.NumGoroutine()-running > n+n/100+10 {
		time.Sleep(time.Millisecond)
	}
	bytes = float64(heap()-before) / float64(n)
	goroutines = float64(runtime.NumGoroutine()-running) / float64(n)
	for _, c := range candidates {
		if err := c.Stop(context.Background()); err != nil {
			tb.Fatal(err)
		}
	}
	return bytes, goroutines
}

// heap is what is in use of heap and stacks.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // the second one shrinks the stacks of goroutines at rest
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func BenchmarkTenThousandCandidates(b *testing.B) {
	for b.Loop() {
		bytes, goroutines := crowd(b, 10_000)
		b.ReportMetric(bytes, "B/candidate")
		b.ReportMetric(goroutines, "goroutines/candidate")
	}
}

// Ten thousand elections fit in one process: at most 8 KiB and one goroutine for each candidate at rest.
func TestTenThousandCandidates(t *testing.T) {
	const n = 10_000
	bytes, goroutines := crowd(t, n)
	t.Logf("%d candidates at rest: %.0f bytes and %.2f goroutines each, the store's watch included", n, bytes, goroutines)
	if bytes > 8<<10 && !raceEnabled {
		t.Errorf("%.0f bytes for each candidate", bytes)
	}
	if goroutines > 1.01 {
		t.Errorf("%.2f goroutines for each candidate", goroutines)
	}
}
