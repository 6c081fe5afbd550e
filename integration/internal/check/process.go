package check

import (
	"fmt"
	"slices"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Command is the kind of a process that a supervisor starts and ends with each term, and may start again within one.
const Command = "command"

// processes finds those that ended by themselves, and histories that do not make sense.
func processes(r *Run, _ Options) (j judgement) {
	j.findings = slices.Clone(r.problems.findings)
	for _, l := range r.Lives {
		r.judgeEnd(l, &j)
		if l.Start == nil && len(l.Terms) > 0 {
			j.add(l.Span, false, "%v led without having said that it started", l)
		}
	}
	switch {
	case r.Finish == nil:
		j.add(Span{r.To, r.To}, false, "%s did not come to its end", r.Nemesis)
	case r.Finish.Error != "":
		j.add(Span{r.To, r.To}, false, "%s gave up: %s", r.Nemesis, r.Finish.Error)
	}
	j.note = plural(len(r.Lives), "life", "lives")
	return j
}

func (r *Run) judgeEnd(l *Life, j *judgement) {
	killed := slices.ContainsFunc(r.Faults, func(f *Fault) bool { return r.killed(f, l) })
	switch {
	case l.Process == r.Nemesis || l.supervised() || killed:
	case l.Exit == nil:
		j.add(Span{l.To, l.To}, false, "%v was last heard of at %s, and nobody killed it", l, r.Time(l.To))
	case l.Exit.Code != 0:
		j.add(Span{l.To, l.To}, false, "%v ended at %s with status %d: %s", l, r.Time(l.To), l.Exit.Code, l.Exit.Reason)
	}
}

// killed reports whether a fault ended a life.
func (r *Run) killed(f *Fault, l *Life) bool {
	if !f.Kills || !f.Struck() || !slices.Contains(f.Targets, l.Process) || l.Exit != nil {
		return false
	}
	at := f.Undone.From
	return l.To <= at && at <= r.reborn(l)
}

// reborn is when the next life of the same process began.
func (r *Run) reborn(l *Life) history.Instant {
	next := never
	for _, o := range r.Lives {
		if o.Process == l.Process && o.From > l.From {
			next = min(next, o.From)
		}
	}
	return next
}

// grade compares what candidates were told by the store with what the run holds it to.
func grade(r *Run, _ Options) (j judgement) {
	told := 0
	for _, l := range r.Lives {
		if l.Start == nil || l.Start.Grade == "" {
			continue
		}
		told++
		if l.Start.Grade != r.Grade {
			j.add(Span{l.From, l.From}, false, "%v was told %q, and the run holds the store to %q", l, l.Start.Grade, r.Grade)
		}
	}
	j.note = fmt.Sprintf("%s, as %s told", r.Grade, plural(told, "process was", "processes were"))
	if told == 0 {
		j.undecided = "no process was told a grade"
	}
	return j
}
