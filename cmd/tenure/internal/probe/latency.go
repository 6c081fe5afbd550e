package probe

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// Latency is the distribution of a call's round-trip times.
type Latency struct {
	Samples       int
	P50, P99, Max time.Duration
}

// MarshalJSON writes the stable JSON form, in milliseconds.
func (l Latency) MarshalJSON() ([]byte, error) {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return json.Marshal(struct {
		Samples int     `json:"samples"`
		P50     float64 `json:"p50_ms"`
		P99     float64 `json:"p99_ms"`
		Max     float64 `json:"max_ms"`
	}{l.Samples, ms(l.P50), ms(l.P99), ms(l.Max)})
}

// Latencies measures n loads and n swaps, one after the other.
func (p *Probe) Latencies(ctx context.Context, n int) (load, swap Latency, err error) {
	loads, swaps := make([]time.Duration, n), make([]time.Duration, n)
	for i := range n {
		start := time.Now()
		if _, err := p.load(ctx, p.Store); err != nil {
			return load, swap, err
		}
		loads[i] = time.Since(start)
		start = time.Now()
		if err := p.advance(ctx); err != nil {
			return load, swap, err
		}
		swaps[i] = time.Since(start)
	}
	return distribution(loads), distribution(swaps), nil
}

func distribution(samples []time.Duration) Latency {
	slices.Sort(samples)
	return Latency{
		Samples: len(samples), P50: percentile(samples, 50), P99: percentile(samples, 99), Max: samples[len(samples)-1],
	}
}

// percentile is by nearest rank: the smallest sample that p percent of all are not above.
func percentile(sorted []time.Duration, p int) time.Duration {
	rank := (len(sorted)*p + 99) / 100
	return sorted[rank-1]
}

// The shortest TTL that is recommended whatever the store, because pauses of processes and machines remain; and how
// many slow swaps the TTL is long. A renewal has a sixth of the TTL, which is then ten times what a slow one takes.
const (
	shortestTTL  = 2 * time.Second
	swapsPerTTL  = 60
	ttlPrecision = time.Second
)

// RecommendTTL returns the shortest TTL with which leadership is not lost by a store that is slow now and then.
func RecommendTTL(swap Latency) time.Duration {
	ttl := max(shortestTTL, swapsPerTTL*swap.P99)
	ttl = (ttl + ttlPrecision - 1) / ttlPrecision * ttlPrecision
	return min(ttl, tenure.MaxTTL)
}

// Round returns a duration with three digits.
func Round(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Nanosecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}
