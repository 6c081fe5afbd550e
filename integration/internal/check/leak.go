package check

import (
	"fmt"
	"slices"
)

const (
	// fewest is how many samples of a life show a trend.
	fewest = 9
	// tolerated is by how much the least of the last third may lie above the most of the first. What grows by one a
	// sample is above it with the fewest samples already, and a pool of connections that comes and goes is not.
	tolerated = 2
)

// leaks compares the first third of each life, which is what it takes to settle, with the last.
func leaks(r *Run, _ Options) (j judgement) {
	judged := 0
	for _, l := range r.Lives {
		if len(l.Samples) < fewest {
			continue
		}
		judged++
		for _, held := range []struct {
			what string
			of   func(Sample) int
		}{
			{"goroutines", func(s Sample) int { return s.Goroutines }},
			{"open files", func(s Sample) int { return s.Descriptors }},
		} {
			first, last := settled(l.Samples, held.of)
			if last > first+tolerated {
				j.add(l.Span, false, "%v had at most %d %s in the first third of its samples, at least %d in the last, and %s",
					l, first, held.what, last, count(l.Samples[len(l.Samples)-1].Terms, "term"))
			}
		}
	}
	j.note = fmt.Sprintf("%s with samples enough", plural(judged, "life", "lives"))
	if judged == 0 {
		j.undecided = fmt.Sprintf("no process lived long enough for %d samples", fewest)
	}
	return j
}

// settled returns the most of the first third and the least of the last.
func settled(samples []Sample, of func(Sample) int) (most, least int) {
	values := make([]int, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	third := len(values) / 3
	return slices.Max(values[:third]), slices.Min(values[len(values)-third:])
}
