package check

import (
	"fmt"
	"maps"
	"slices"
)

const (
	// levels is how many numbers of terms a life must have samples of to show a trend by itself, and growth by how
	// much it must have grown then: a pool of connections grows as far, but does not do it again and again.
	levels, growth = 3, 6
	// moreLevels are enough to believe a smaller growth.
	moreLevels, lessGrowth = 5, 4
	// steps is how many steps from one term to the next all lives together must have made to show a trend, of which so
	// great a part goes up.
	steps, rising = 6, 0.8
)

// holding is something that a process can leak.
type holding struct {
	what string
	// of are ways to count it. It is leaked only if it climbs by each of them.
	of []func(Sample) int
}

var leakable = []holding{
	{"goroutines", []func(Sample) int{
		func(s Sample) int { return s.Goroutines },
		func(s Sample) int { return s.Goroutines - perConnection*s.Sockets },
	}},
	{"open files", []func(Sample) int{func(s Sample) int { return s.Descriptors }}},
}

// perConnection is how many goroutines a client's connection has at most: those of net/http are read by one and written
// by another. Without them a pool that faults have made larger is no leak, and with them one that is smaller is none.
const perConnection = 2

// leaks compares what a life holds after so many terms with what it held before the last one. Of all samples between
// two terms the least counts, since others may have met a call or a pool at work.
func leaks(r *Run, _ Options) (j judgement) {
	judged := 0
	for _, l := range r.Lives {
		if len(l.atTerms()) < levels {
			continue
		}
		judged++
		for _, held := range leakable {
			if held.climbs(l) {
				j.add(l.Span, false, "%v held %s %v after 0, 1, 2 … terms", l, held.what, l.least(held.of[0]))
			}
		}
	}
	for _, held := range leakable {
		up, total := r.steps(held)
		if total < steps {
			continue
		}
		judged++
		if float64(up) >= rising*float64(total) {
			j.add(r.Span, false, "of %d times that a candidate led again, it held more %s afterwards %d times",
				total, held.what, up)
		}
	}
	j.note = fmt.Sprintf("%s with samples enough", plural(len(r.sampled()), "life", "lives"))
	if judged == 0 {
		j.undecided = "no process led often enough to show a trend"
	}
	return j
}

// sampled returns the lives that show a trend by themselves.
func (r *Run) sampled() []*Life {
	return slices.DeleteFunc(slices.Clone(r.Lives), func(l *Life) bool { return len(l.atTerms()) < levels })
}

// atTerms returns the samples of a life by how many terms it had had.
func (l *Life) atTerms() map[int][]Sample {
	out := map[int][]Sample{}
	for _, s := range l.Samples {
		out[s.Terms] = append(out[s.Terms], s)
	}
	return out
}

// least returns the least of each number of terms, in their order.
func (l *Life) least(of func(Sample) int) (out []int) {
	at := l.atTerms()
	for _, terms := range slices.Sorted(maps.Keys(at)) {
		out = append(out, of(slices.MinFunc(at[terms], func(a, b Sample) int { return of(a) - of(b) })))
	}
	return out
}

// climbs reports whether a life has held more and more of it.
func (h holding) climbs(l *Life) bool {
	return !slices.ContainsFunc(h.of, func(of func(Sample) int) bool { return !climbs(l.least(of)) })
}

// climbs reports whether values only rise, and far enough that it is no chance.
func climbs(values []int) bool {
	for i := 1; i < len(values); i++ {
		if values[i] <= values[i-1] {
			return false
		}
	}
	far := values[len(values)-1] - values[0]
	return far >= growth || len(values) >= moreLevels && far >= lessGrowth
}

// steps counts how often a candidate that had led before led again, and how often it held more afterwards. The first
// term is not counted: much is opened in it for good.
func (r *Run) steps(held holding) (up, total int) {
	for _, l := range r.Lives {
		for i := 2; i < len(l.atTerms()); i++ {
			total++
			if held.rose(l, i) {
				up++
			}
		}
	}
	return up, total
}

// rose reports whether a life held more of it after that many steps from one term to the next than after one less.
func (h holding) rose(l *Life, i int) bool {
	return !slices.ContainsFunc(h.of, func(of func(Sample) int) bool {
		least := l.least(of)
		return least[i] <= least[i-1]
	})
}
