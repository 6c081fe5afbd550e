package check

import (
	"fmt"
	"slices"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// faults finds those that did nothing.
func faults(r *Run, _ Options) (j judgement) {
	struck := map[string]bool{}
	for _, f := range r.Faults {
		if r.judgeFault(f, &j) {
			struck[f.Kind] = true
		}
	}
	for _, kind := range r.Run.Faults {
		if !struck[kind] {
			j.add(r.Span, false, "the fault %q was planned, and none struck", kind)
		}
	}
	j.note = fmt.Sprintf("%s of %s", count(r.Struck(), "fault"), plural(len(struck), "kind", "kinds"))
	if len(r.Run.Faults) == 0 && len(r.Faults) == 0 {
		j.undecided = "no fault was planned"
	}
	return j
}

// Struck is how many faults certainly were in force.
func (r *Run) Struck() (n int) {
	for _, f := range r.Faults {
		if f.Struck() {
			n++
		}
	}
	return n
}

// judgeFault reports whether a fault was real.
func (r *Run) judgeFault(f *Fault, j *judgement) bool {
	before := len(j.findings)
	at := r.Time(f.At)
	switch {
	case f.Undone == nil:
		j.add(f.Span(r), false, "%v was begun at %s and never undone", f, at)
	case f.Undone.Error != "":
		j.add(f.Span(r), false, "%v, begun at %s, went wrong: %s", f, at, f.Undone.Error)
	case !f.Struck():
		j.add(f.Span(r), false, "%v, begun at %s, had no effect", f, at)
	case f.Undone.From < f.At || f.Undone.To < f.Undone.From || f.Undone.To > f.UndoneAt:
		j.add(f.Span(r), false, "%v was in force from %s to %s, but begun at %s and undone at %s",
			f, r.Time(f.Undone.From), r.Time(f.Undone.To), at, r.Time(f.UndoneAt))
	default:
		r.contradict(f, j)
	}
	return len(j.findings) == before
}

// contradict looks for what the targets cannot have done if the fault was real.
func (r *Run) contradict(f *Fault, j *judgement) {
	inForce := Span{f.Undone.From, f.Undone.To}
	for _, l := range r.Lives {
		switch {
		case !slices.Contains(f.Targets, l.Process):
		case f.Freezes && l.spokeIn(inForce):
			j.add(inForce, false, "%v wrote while %v stopped it, from %s to %s",
				l, f, r.Time(inForce.From), r.Time(inForce.To))
		case f.Kills && l.From < inForce.From && l.To > inForce.From:
			j.add(inForce, false, "%v wrote at %s, after %v at %s", l, r.Time(l.To), f, r.Time(inForce.From))
		}
	}
	if f.Kills && r.victims(f) == 0 && r.targetsCandidate(f) {
		j.add(inForce, false, "%v at %s ended nobody", f, r.Time(inForce.From))
	}
}

// spokeIn reports whether the life wrote anything strictly within s.
func (l *Life) spokeIn(s Span) bool {
	return slices.ContainsFunc(l.events, func(at history.Instant) bool { return s.From < at && at < s.To })
}

func (r *Run) victims(f *Fault) (n int) {
	for _, l := range r.Lives {
		if r.killed(f, l) {
			n++
		}
	}
	return n
}

// targetsCandidate reports whether a target is a process with a history, and not a server.
func (r *Run) targetsCandidate(f *Fault) bool {
	return slices.ContainsFunc(r.Lives, func(l *Life) bool { return slices.Contains(f.Targets, l.Process) })
}

// enough compares what has happened with what the run was meant to show.
func enough(r *Run, _ Options) (j judgement) {
	recovered := 0
	for _, v := range r.Recoveries() {
		if v.Led != 0 {
			recovered++
		}
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"terms", r.TrustedTerms(), r.Least.Terms},
		{"accepted writes", r.Done(history.Write, history.OK), r.Least.Writes},
		{"refused operations", r.Done("", history.Refused), r.Least.Refused},
		{"faults", r.Struck(), r.Least.Faults},
		{"recoveries", recovered, r.Least.Heals},
	} {
		if c.got < c.want {
			j.add(r.Span, false, "%d %s, where %d prove something", c.got, c.what, c.want)
		}
	}
	j.note = fmt.Sprintf("%s, %s, %s, %s", count(r.TrustedTerms(), "term"),
		count(r.Done(history.Write, history.OK), "write"), count(r.Struck(), "fault"),
		plural(recovered, "recovery", "recoveries"))
	if r.Least == (history.Least{}) {
		j.undecided = "the run does not say what is enough"
	}
	return j
}

// TrustedTerms is how many terms were certainly trusted for a while.
func (r *Run) TrustedTerms() (n int) {
	for _, t := range r.Terms {
		if len(t.Spans) > 0 && !t.resumes() {
			n++
		}
	}
	return n
}

// Done counts operations of a kind, or of all kinds, that ended in a way.
func (r *Run) Done(kind, outcome string) (n int) {
	for _, o := range r.Operations {
		if (kind == "" || o.Kind == kind) && o.Outcome == outcome {
			n++
		}
	}
	return n
}
