package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// summary is what came out of a run, whole or interrupted.
type summary struct {
	chosen    []*mutant // that were to be judged
	results   map[string]result
	judges    []*judge
	explained []explanation
	problems  []string // with explanations
}

// unexplained returns the survivors that nothing explains, in the order of the source.
func (s *summary) unexplained() (list []*mutant) {
	for _, m := range s.chosen {
		if r, judged := s.results[m.name]; judged && r.alive() && s.reason(m) == "" {
			list = append(list, m)
		}
	}
	return list
}

func (s *summary) reason(m *mutant) string {
	i := slices.IndexFunc(s.explained, func(e explanation) bool { return e.name == m.name })
	if i < 0 {
		return ""
	}
	return s.explained[i].reason
}

// count returns how many of the chosen mutants ended so.
func (s *summary) count(is func(result) bool) (n int) {
	for _, m := range s.chosen {
		if r, judged := s.results[m.name]; judged && is(r) {
			n++
		}
	}
	return n
}

func (s *summary) with(v verdict) int { return s.count(func(r result) bool { return r.Verdict == v }) }

// print shows the survivors and the table.
func (s *summary) print(out io.Writer, file string) {
	unexplained := s.unexplained()
	for _, m := range unexplained {
		fmt.Fprintf(out, "\nSURVIVED: %s%s\n%s", m.name, s.why(m), m.diff())
	}
	fmt.Fprintln(out)
	s.table(out, len(unexplained))
	if len(unexplained) > 0 {
		fmt.Fprintf(out, "\nA test has to notice each of the %d survivors above; or, if the mutant does the same as\n"+
			"the code, %s has to say why.\n", len(unexplained), file)
	}
	if len(s.problems) > 0 {
		fmt.Fprintf(out, "\nTake what does not hold any more out of %s:\n  %s\n", file, strings.Join(s.problems, "\n  "))
	}
}

func (s *summary) why(m *mutant) string {
	if s.results[m.name].Verdict == notCovered {
		return " (no judge executes it)"
	}
	return ""
}

func (s *summary) table(out io.Writer, unexplained int) {
	row := func(name string, n int) { fmt.Fprintf(out, "%-36s %6d\n", name, n) }
	row("mutants", len(s.chosen))
	if left := len(s.chosen) - s.count(func(result) bool { return true }); left > 0 {
		row("  not judged", left)
	}
	row("  that do not compile", s.with(noCompile))
	row("  killed", s.with(killed))
	for _, j := range s.judges {
		row("    by "+j.name, s.count(func(r result) bool { return r.Judge == j.name }))
	}
	row("    of these by time", s.count(func(r result) bool { return r.ByTime }))
	row("  survived", s.count(result.alive))
	row("    explained", s.count(result.alive)-unexplained)
	row("    executed by no judge", s.with(notCovered))
	if judged := s.with(killed) + s.count(result.alive); judged > 0 {
		score := 100 * float64(s.with(killed)) / float64(judged)
		fmt.Fprintf(out, "%-36s %5.1f%%\n", "score: killed / (killed + survived)", score)
	}
}

// failed reports whether there is something to do.
func (s *summary) failed() bool { return len(s.unexplained()) > 0 || len(s.problems) > 0 }
