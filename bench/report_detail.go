package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

const countsText = `Per renewal, and per bare write beside it, as the server counts; those of the harness are left out
of the requests.`

func (r *Report) writeCounts(w io.Writer) {
	t := &Table{Head: []string{"store", "what", "a renewal", "a bare write"}}
	for _, result := range r.Results {
		for _, name := range slices.Sorted(maps.Keys(result.Renewal.Cost)) {
			if name != Connections {
				t.Add(result.Bed.Name, name, Number(result.Renewal.Cost[name]), bare(result.Renewal.Bare, name))
			}
		}
	}
	t.Write(w)
}

// bare prints a count of one bare operation. What is counted of the stores alone has none.
func bare(counts Counts, name string) string {
	if name == HotShare || name == Requests && counts[name] == 0 {
		return None
	}
	return Number(counts[name])
}

const timesText = `Microseconds, median / 99th percentile. They say how fast this machine was on that day, and no more.`

func (r *Report) writeTimes(w io.Writer) {
	t := &Table{Head: []string{"store", "bare round trip", "bare write", "renewal"}}
	for _, n := range r.Plan.Candidates {
		t.Head = append(t.Head, fmt.Sprintf("hand-over among %d", n))
	}
	for _, result := range r.Results {
		n := result.Renewal
		cells := []string{result.Bed.Name, micros(n.Ping), micros(n.Write), micros(n.Renewal)}
		for _, h := range result.HandOver {
			cells = append(cells, micros(h.Gap))
		}
		for len(cells) < len(t.Head) {
			cells = append(cells, None)
		}
		t.Add(cells...)
	}
	t.Write(w)
}

func micros(s Series) string { return pair(s, 1000) }

func (r *Report) writeStores(w io.Writer) {
	t := &Table{Head: []string{"store", "what is measured", "server", "pushes"}}
	for _, result := range r.Results {
		pushes := "yes"
		if !result.Pushes {
			pushes = "no"
		}
		t.Add(result.Bed.Name, result.Bed.About, result.Version, pushes)
	}
	t.Write(w)
	for _, result := range r.Results {
		result.writeLost(w)
		for _, problem := range result.Problems {
			fmt.Fprintf(w, "- %s could not be measured in full: %s\n", result.Bed.Name, problem)
		}
	}
	for _, skipped := range r.Skipped {
		fmt.Fprintf(w, "- not measured: %s\n", skipped)
	}
}

// writeLost tells of terms that ended though nobody ended them.
func (r *Result) writeLost(w io.Writer) {
	for _, h := range r.HandOver {
		for _, lost := range h.Lost {
			fmt.Fprintf(w, "- %s, among %d: %v\n", r.Bed.Name, h.Candidates, lost)
		}
	}
	if r.Herd == nil {
		return
	}
	for _, lost := range r.Herd.Lost {
		fmt.Fprintf(w, "- %s, among %d: %v\n", r.Bed.Name, r.Herd.Candidates, lost)
	}
}

// middle is the median of rates.
func middle(rates []float64) float64 {
	sorted := slices.Sorted(slices.Values(rates))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}
