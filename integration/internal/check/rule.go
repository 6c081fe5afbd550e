package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Verdict is what became of a rule.
type Verdict string

// The verdicts. Only the first two are good.
const (
	Held      Verdict = "held"
	Expected  Verdict = "broke as the grade says"
	Violated  Verdict = "VIOLATED"
	Undecided Verdict = "undecided"
)

// Finding is one thing that a rule forbids.
type Finding struct {
	Span
	// Text names processes, tokens and times.
	Text string
	// Excused tells that the store's grade allows it there.
	Excused bool
	// Processes are those that were trusted at once; other rules name them in the text alone.
	Processes []string
}

// Row is a rule with its verdict.
type Row struct {
	// ID never changes its meaning; Text is the rule.
	ID, Text string
	Verdict  Verdict
	// Note is what the verdict rests on.
	Note string
	// Findings are in the order of time.
	Findings []Finding
}

// judgement is what a rule's function returns.
type judgement struct {
	findings []Finding
	note     string
	// undecided is why nothing can be said; findings matter more.
	undecided string
}

func (j *judgement) add(s Span, excused bool, format string, args ...any) {
	j.findings = append(j.findings, Finding{Span: s, Text: fmt.Sprintf(format, args...), Excused: excused})
}

func (j *judgement) verdict() Verdict {
	switch {
	case slices.ContainsFunc(j.findings, func(f Finding) bool { return !f.Excused }):
		return Violated
	case j.undecided != "":
		return Undecided
	case len(j.findings) > 0:
		return Expected
	}
	return Held
}

// rule is a rule and what judges it.
type rule struct {
	id, text string
	judge    func(*Run, Options) judgement
}

// rules are all that a run is held to.
var rules = []rule{
	{"one-leader", "No two processes are trusted with the lead at the same instant", oneLeader},
	{"rising-tokens", "Each term has a higher token than the one before; no token belongs to two sessions", risingTokens},
	{"lost-is-lost", "Trust that was refused never returns within its term", lostIsLost},
	{"register", "The fenced register behaves as if its operations were done one after the other", register},
	{"counter", "No increment of the fenced counter is lost", counter},
	{"stale-refused", "The register accepts no operation with a token lower than one that it has accepted", staleRefused},
	{"recovery", "Once all faults are healed, somebody leads again within the bound", recovery},
	{"leaks", "Goroutines and open files do not grow from term to term", leaks},
	{"load", "Candidates send the store no more requests than documented", load},
	{"processes", "No process ends unless it is told to or killed, and every history is whole", processes},
	{"grade", "The store states the grade that it is held to", grade},
	{"faults", "Every fault that was planned has struck, and was undone", faults},
	{"enough", "There were terms, writes, faults and recoveries enough to prove anything", enough},
}

// Options says how to judge. The zero Options takes the defaults.
type Options struct {
	// Timeout bounds the search for an order of the register's operations. Default: one minute.
	Timeout time.Duration
	// AllowUndecided are the rules that may stay undecided, by their IDs, as in a run that is too short for them.
	AllowUndecided []string
}

// Result is the judgement of a run.
type Result struct {
	Run  *Run
	Rows []Row
	// Passed tells that every rule held, broke as the grade says, or was allowed to stay undecided.
	Passed bool
}

// Check judges a history. It returns an error if the events are not those of one run.
func Check(events []history.Event, options Options) (*Result, error) {
	for _, id := range options.AllowUndecided {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.id == id }) {
			return nil, fmt.Errorf("check: there is no rule %q", id)
		}
	}
	run, err := newRun(events)
	if err != nil {
		return nil, err
	}
	if options.Timeout <= 0 {
		options.Timeout = time.Minute
	}
	result := &Result{Run: run, Passed: true}
	for _, r := range rules {
		row := r.row(run, options)
		allowed := row.Verdict == Undecided && slices.Contains(options.AllowUndecided, r.id)
		result.Passed = result.Passed && (row.good() || allowed)
		result.Rows = append(result.Rows, row)
	}
	return result, nil
}

func (r rule) row(run *Run, options Options) Row {
	j := r.judge(run, options)
	slices.SortStableFunc(j.findings, func(a, b Finding) int { return cmp.Compare(a.From, b.From) })
	row := Row{ID: r.id, Text: r.text, Verdict: j.verdict(), Note: j.note, Findings: j.findings}
	if row.Verdict == Undecided {
		row.Note = j.undecided
	}
	return row
}

func (r Row) good() bool { return r.Verdict == Held || r.Verdict == Expected }

// Row returns the row of a rule, the zero Row if there is no such rule.
func (r *Result) Row(id string) Row {
	for _, row := range r.Rows {
		if row.ID == id {
			return row
		}
	}
	return Row{}
}
