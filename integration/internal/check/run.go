package check

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// Run is a history, taken apart.
type Run struct {
	history.Run
	// Nemesis is the process that made the run.
	Nemesis string
	// The run goes from its first event to its last.
	Span
	// Lives are in the order in which they began, Terms and Operations too.
	Lives      []*Life
	Terms      []*Term
	Operations []*Operation
	Faults     []*Fault
	Heals      []Heal
	// Stalls are the times in which the machine did not let a process run that nothing had been done to. None meets
	// another.
	Stalls []Span
	// Finish is nil if the nemesis did not come to its end.
	Finish *history.Finish

	problems judgement // what is wrong with the history itself
}

// Heal is a moment from which on nothing is wrong.
type Heal struct {
	At    history.Instant
	Bound time.Duration
}

// newRun takes events, in the order of time, apart.
func newRun(events []history.Event) (*Run, error) {
	first := slices.IndexFunc(events, func(e history.Event) bool { return e.Run != nil })
	if first < 0 {
		return nil, errors.New("check: no process says what this run is")
	}
	run := &Run{
		Run: *events[first].Run, Nemesis: events[first].Process,
		Span: Span{events[0].At, events[len(events)-1].At},
	}
	if run.TTL <= 0 {
		return nil, errors.New("check: the run does not say what the TTL is")
	}
	b := builder{
		run: run, lives: map[lifeID]*Life{}, terms: map[termID]*Term{}, operations: map[operationID]*Operation{},
		faults: map[int]*Fault{},
	}
	for i, e := range events {
		if e.Run != nil && i != first {
			return nil, errors.New("check: the events are those of two runs")
		}
		b.add(e)
	}
	run.Stalls = b.fairStalls()
	slices.SortStableFunc(run.Terms, func(a, b *Term) int { return byFrom(a.Whole(), b.Whole()) })
	join(run.Terms)
	return run, nil
}

// builder takes in one event after the other.
type builder struct {
	run        *Run
	lives      map[lifeID]*Life
	terms      map[termID]*Term
	operations map[operationID]*Operation
	faults     map[int]*Fault
	stalls     []stall
}

type stall struct {
	Span
	process string
}

func (b *builder) add(e history.Event) {
	l := b.life(e)
	switch {
	case e.Start != nil:
		l.Start = e.Start
	case e.Exit != nil:
		l.Exit = e.Exit
	case e.Resources != nil:
		l.Samples = append(l.Samples, Sample{e.At, *e.Resources})
	case e.Requests != nil:
		l.Counts = append(l.Counts, Count{e.At, *e.Requests})
	case e.Stall != nil:
		b.stalls = append(b.stalls, stall{Span{e.Stall.From, e.Stall.To}, e.Process})
	case e.Elected != nil, e.Ended != nil, e.Trust != nil:
		b.addTerm(l, e)
	case e.Invoke != nil, e.Return != nil:
		b.addOperation(l, e)
	default:
		b.addFault(e)
	}
}

func (b *builder) addTerm(l *Life, e history.Event) {
	switch {
	case e.Elected != nil:
		b.term(l, e.Elected.Token, e.Elected.Session).Elected = e.At
	case e.Ended != nil:
		t := b.term(l, e.Ended.Token, e.Ended.Session)
		t.Ended, t.Cause, t.Reason = e.At, e.Ended.Cause, e.Ended.Reason
	default:
		b.term(l, e.Trust.Token, e.Trust.Session).trust(Span{e.Trust.From, e.Trust.To})
	}
}

func (b *builder) addFault(e history.Event) {
	switch {
	case e.Fault != nil:
		if b.faults[e.Fault.Number] != nil {
			b.problem(e, "began fault %d twice", e.Fault.Number)
			return
		}
		f := &Fault{Fault: *e.Fault, At: e.At}
		b.faults[f.Number], b.run.Faults = f, append(b.run.Faults, f)
	case e.Undone != nil:
		f := b.faults[e.Undone.Number]
		if f == nil || f.Undone != nil {
			b.problem(e, "undid fault %d, which was not there", e.Undone.Number)
			return
		}
		f.Undone, f.UndoneAt = e.Undone, e.At
	case e.Healed != nil:
		b.run.Heals = append(b.run.Heals, Heal{e.At, e.Healed.Bound})
	case e.Finish != nil:
		b.run.Finish = e.Finish
	}
}

func (b *builder) problem(e history.Event, format string, args ...any) {
	b.run.problems.add(Span{e.At, e.At}, false, "%s %d %s, at %s",
		e.Process, e.Life, fmt.Sprintf(format, args...), b.run.Time(e.At))
}

// fairStalls leaves out those of processes that were being kept from running, or were as good as dead.
func (b *builder) fairStalls() []Span {
	var fair []Span
	for _, s := range b.stalls {
		if !slices.ContainsFunc(b.run.Faults, func(f *Fault) bool {
			return slices.Contains(f.Targets, s.process) && f.Span(b.run).meets(s.Span)
		}) {
			fair = append(fair, s.Span)
		}
	}
	return union(fair)
}

// Time tells an instant as people want it: in seconds of the run.
func (r *Run) Time(i history.Instant) string {
	return fmt.Sprintf("%.3f s", i.Sub(r.From).Seconds())
}

// excusable reports whether the store's grade excuses anything at all.
func (r *Run) excusable() bool {
	return r.Grade == tenure.GradeUntilFailover.String() || r.Grade == tenure.GradeBestEffort.String()
}

// losses are the times in which writes that the store had acknowledged may be gone and a leader may not know it yet:
// from the beginning of a fault that can lose them until a TTL after its end.
func (r *Run) losses() (out []Span) {
	if !r.excusable() {
		return nil
	}
	for _, f := range r.Faults {
		if f.Loses {
			s := f.Span(r)
			out = append(out, Span{s.From, s.To.Add(r.TTL)})
		}
	}
	return out
}

// excusedThrough reports whether one loss explains all of s.
func (r *Run) excusedThrough(s Span) bool {
	return slices.ContainsFunc(r.losses(), func(l Span) bool { return l.From <= s.From && s.To <= l.To })
}

// excusedBetween reports whether there was a loss between what was known at the beginning of s and its end.
func (r *Run) excusedBetween(s Span) bool {
	return slices.ContainsFunc(r.losses(), func(l Span) bool { return l.meets(s) })
}
