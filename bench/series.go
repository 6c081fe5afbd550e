package bench

import (
	"math"
	"slices"
	"time"
)

// Series are durations of one operation, in the order in which they were measured.
type Series []time.Duration

// Percentile returns the smallest duration that p percent of all are not above (nearest rank), zero of none.
func (s Series) Percentile(p float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Median is the 50th percentile.
func (s Series) Median() time.Duration { return s.Percentile(50) }

// Ratio returns a divided by b, and no number if there is no b.
func Ratio(a, b time.Duration) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}

// timed appends how long do took, if it succeeded.
func (s *Series) timed(do func() error) error {
	start := time.Now()
	err := do()
	if err == nil {
		*s = append(*s, time.Since(start))
	}
	return err
}

func (s Series) sum() time.Duration {
	var sum time.Duration
	for _, d := range s {
		sum += d
	}
	return sum
}
