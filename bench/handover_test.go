package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/file"
)

// BenchmarkHandOver measures the time from the end of one leader's work to the start of the next one's, as a multiple
// of the store's own swap, measured in the same run.
func BenchmarkHandOver(b *testing.B) {
	store, err := file.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	for _, candidates := range []int{3, 50} {
		b.Run(fmt.Sprintf("file/%d", candidates), func(b *testing.B) {
			median := handOver(b, store, fmt.Sprint(b.Name(), b.N), candidates)
			swap := swapTime(b, store, fmt.Sprint(b.Name(), "-swap-", b.N))
			b.ReportMetric(float64(median.Nanoseconds())/1000, "µs-median")
			b.ReportMetric(float64(swap.Nanoseconds())/1000, "µs-swap")
			b.ReportMetric(float64(median)/float64(swap), "swaps")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// handOver has the leaders of an election hand over b.N times, and returns the median gap.
func handOver(b *testing.B, store tenure.Store, election string, candidates int) time.Duration {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gaps := make(chan time.Duration)
	done := make(chan error, candidates)
	ended := time.Now() // written by one leader before the next begins
	for i := range candidates {
		c, err := tenure.New(store, election, tenure.WithID(fmt.Sprint("node-", i)))
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			done <- c.Run(ctx, func(term context.Context, _ tenure.Term) error {
				select {
				case gaps <- time.Since(ended):
				case <-ctx.Done():
					return nil
				}
				go func() { _ = c.Resign(ctx) }()
				<-term.Done()
				ended = time.Now()
				return nil
			})
		}()
	}
	<-gaps // the first leader follows nobody
	var all []time.Duration
	for range max(b.N, 20) {
		all = append(all, <-gaps)
	}
	cancel()
	for range candidates {
		<-done
	}
	return median(all)
}

// swapTime is the median of a bare compare-and-swap on the same store.
func swapTime(b *testing.B, store tenure.Store, election string) time.Duration {
	b.Helper()
	var times []time.Duration
	var version tenure.Version
	for i := range 200 {
		start := time.Now()
		s, err := store.CompareAndSwap(context.Background(), election, version, tenure.Record{Renewals: uint64(i)})
		if err != nil {
			b.Fatal(err)
		}
		times, version = append(times, time.Since(start)), s.Version
	}
	return median(times)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
