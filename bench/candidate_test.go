package bench_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// leading returns a candidate that leads until the benchmark ends.
func leading(b *testing.B) *tenure.Candidate {
	b.Helper()
	c, err := tenure.New(memory.New(), "election")
	if err != nil {
		b.Fatal(err)
	}
	won, err := c.TryAcquire(b.Context())
	if err != nil || !won {
		b.Fatalf("won %v, error %v", won, err)
	}
	b.Cleanup(func() {
		c.Idle()
		_ = c.Stop(context.Background())
	})
	return c
}

// BenchmarkIsLeader measures the question that a program asks most.
func BenchmarkIsLeader(b *testing.B) {
	c := leading(b)
	b.ReportAllocs()
	for b.Loop() {
		if !c.IsLeader() {
			b.Fatal("the lead was lost")
		}
	}
}

// BenchmarkClock is the least that a question can take which reads the clock.
func BenchmarkClock(b *testing.B) {
	start := time.Now()
	for b.Loop() {
		if time.Since(start) < 0 {
			b.Fatal("the clock runs backwards")
		}
	}
}

// BenchmarkElection measures what one more election costs a process that takes part in many: memory and goroutines.
func BenchmarkElection(b *testing.B) {
	store := memory.New()
	before := usage()
	var candidates []*tenure.Candidate
	for i := range b.N {
		c, err := tenure.New(store, fmt.Sprint("election-", i))
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		candidates = append(candidates, c)
	}
	for _, c := range candidates {
		for !c.IsLeader() {
			runtime.Gosched()
		}
	}
	after := usage()
	b.ReportMetric((after.bytes-before.bytes)/float64(b.N), "B/election")
	b.ReportMetric((after.goroutines-before.goroutines)/float64(b.N), "goroutines/election")
	b.StopTimer()
	for _, c := range candidates {
		c.Idle()
		if err := c.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

type used struct{ bytes, goroutines float64 }

func usage() used {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{float64(m.HeapAlloc + m.StackInuse), float64(runtime.NumGoroutine())}
}
