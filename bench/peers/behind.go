package peers

import (
	"fmt"
	"io"
	"math"

	"github.com/tenure-go/tenure/bench"
)

// lead is a comparison in which another is ahead of us.
type lead struct {
	Other, What string
	// Theirs and Ours are numbers of the same unit, the smaller the better.
	Theirs, Ours float64
}

// margin is by what share two numbers have to differ to be told apart on a machine that does other things too.
const margin = 0.1

const behindText = `Every number above by which another is better than ours on the same kind of server by more than a
tenth, and why.`

// behind returns what others are ahead in.
func (r *Report) behind() []lead {
	var all []lead
	for _, column := range []struct {
		name  string
		among func(*Result) bool
	}{{"default leases", defaults}, {"equal leases", equal}} {
		for _, result := range r.Results {
			ours := r.ours(result, column.among)
			if result.Peer.Ours || !column.among(result) || ours == nil {
				continue
			}
			for _, m := range r.measures() {
				theirs, mine := m.of(result), m.of(ours)
				if theirs < mine*(1-margin) && mine-theirs >= m.least { // neither holds for what was not measured
					all = append(all, lead{result.Peer.Name, m.what + ", " + column.name, theirs, mine})
				}
			}
		}
	}
	return all
}

// measure is a number of a result, not one if it was not measured.
type measure struct {
	what string
	of   func(*Result) float64
	// least is by how much two have to differ at least, since a server may count one more or less.
	least float64
}

func (r *Report) measures() []measure {
	all := []measure{
		{"hand-over among 3, ms, 99th percentile", func(r *Result) float64 { return r.gap(three, 99) }, 0},
		{"fail-over, leases, median", func(r *Result) float64 {
			if r.FailOver == nil {
				return math.NaN()
			}
			return bench.Ratio(r.FailOver.Gap.Median(), r.FailOver.Lease)
		}, 0},
		{"requests of a leader", func(r *Result) float64 { return r.load(true, bench.Requests) }, 1},
		{"requests of a follower", func(r *Result) float64 { return r.load(false, bench.Requests) }, 1},
		{"writes of a leader", func(r *Result) float64 { return r.load(true, Writes) }, 1},
		{"writes of a follower", func(r *Result) float64 { return r.load(false, Writes) }, 1},
	}
	for _, n := range append([]int{three}, r.Plan.Crowds...) {
		all = append(all, measure{
			fmt.Sprintf("hand-over among %d, ms, median", n), func(r *Result) float64 { return r.gap(n, 50) }, 0,
		})
	}
	return all
}

func (r *Result) gap(n int, percentile float64) float64 {
	h := r.among(n)
	if h == nil || len(h.Gap) == 0 {
		return math.NaN()
	}
	return h.Gap.Percentile(percentile).Seconds() * 1000
}

func (r *Result) load(leader bool, count string) float64 {
	switch {
	case r.Load == nil:
		return math.NaN()
	case leader:
		return r.Load.Leader[count]
	}
	return r.Load.Follower[count]
}

func (r *Report) writeBehind(w io.Writer) {
	t := &bench.Table{Head: []string{"ahead", "in what: theirs, ours", "why"}}
	rows := map[[2]string]int{}
	for _, l := range r.behind() {
		what := fmt.Sprintf("%s: %s, %s", l.What, bench.Number(l.Theirs), bench.Number(l.Ours))
		why := reason(l)
		row, begun := rows[[2]string{l.Other, why}]
		if !begun {
			rows[[2]string{l.Other, why}] = len(t.Rows)
			t.Add(l.Other, what, why)
			continue
		}
		t.Rows[row][1] += "; " + what
	}
	if len(t.Rows) == 0 {
		fmt.Fprint(w, "None.\n\n")
		return
	}
	t.Write(w)
}
