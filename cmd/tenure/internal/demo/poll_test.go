package demo

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// bench drives a poll by hand: each reading of the clock takes a microsecond.
type bench struct {
	poll
	clock   guard.Instant
	answers answer
	asking  time.Duration // how long the next answer takes
	reports []report
}

func newBench() *bench {
	b := &bench{clock: 1000}
	b.now = func() guard.Instant {
		b.clock = b.clock.Add(time.Microsecond)
		return b.clock
	}
	b.ask = func() answer {
		b.clock = b.clock.Add(b.asking)
		b.asking = 0
		return b.answers
	}
	b.report = func(r report) { b.reports = append(b.reports, r) }
	return b
}

// step asks once, a while after the last time.
func (b *bench) step(leads bool, token uint64, after time.Duration) (before, later guard.Instant) {
	b.clock = b.clock.Add(after)
	b.answers = answer{leads: leads, token: token}
	before = b.clock
	b.once()
	return before, b.clock
}

func (b *bench) last(k kind) report {
	for i := len(b.reports) - 1; i >= 0; i-- {
		if b.reports[i].Kind == k {
			return b.reports[i]
		}
	}
	return report{}
}

func TestPollCountsOnlyWhatIsCertain(t *testing.T) {
	b := newBench()
	b.step(false, 0, pollEvery)
	b.asking = 5 * time.Millisecond
	before, first := b.step(true, 7, pollEvery)
	if yes := b.last(reportYes); yes.From <= before.Add(5*time.Millisecond) || yes.From > first || yes.From != yes.To {
		t.Errorf("a single yes counts from %v to %v, want nothing from %v on", yes.From, yes.To, first)
	}
	b.asking = 5 * time.Millisecond
	last, _ := b.step(true, 7, pollEvery)
	yes := b.last(reportYes)
	if yes.Token != 7 || yes.From > first || yes.To < last || yes.To >= last.Add(5*time.Millisecond) {
		t.Errorf("two yeses count from %v to %v, want from %v to before the last, %v", yes.From, yes.To, first, last)
	}
	b.step(false, 0, pollEvery)
	if no := b.last(reportNo); no.Token != 7 {
		t.Errorf("the end of trust was reported as %+v, want token 7", no)
	}
	if got := b.last(reportYes); got != yes {
		t.Errorf("a no moved the span from %+v to %+v", yes, got)
	}
}

func TestPollFindsAWrongYesAfterAFreeze(t *testing.T) {
	b := newBench()
	b.step(true, 7, pollEvery)
	b.step(true, 7, pollEvery)
	before, _ := b.step(true, 7, 3*time.Second)
	if yes := b.last(reportYes); yes.To < before {
		t.Errorf("trust is known until %v, want %v: the process was told yes then", yes.To, before)
	}
	if woke := b.last(reportWoke); woke.Token != 7 {
		t.Errorf("the first answer was reported as %+v, want token 7", woke)
	}
}

func TestPollFrozenWithinAQuestion(t *testing.T) {
	b := newBench()
	b.step(true, 7, pollEvery)
	b.asking = 3 * time.Second
	before, _ := b.step(true, 7, pollEvery)
	if yes := b.last(reportYes); yes.To >= before.Add(time.Second) {
		t.Errorf("trust is known until %v, but the yes may be as old as %v", yes.To, before)
	}
	if woke := b.last(reportWoke); woke.Kind != "" {
		t.Errorf("the answer may be from before the freeze, but was reported as the first after: %+v", woke)
	}
	b.step(false, 0, pollEvery)
	if woke := b.last(reportWoke); woke.Kind == "" || woke.Token != 0 {
		t.Errorf("the first answer after the freeze was reported as %+v, want a no", woke)
	}
}

func TestPollTellsTermsApart(t *testing.T) {
	b := newBench()
	b.step(true, 7, pollEvery)
	b.step(true, 7, pollEvery)
	_, first := b.step(true, 8, pollEvery)
	if yes := b.last(reportYes); yes.Token != 8 || yes.From > first || yes.From != yes.To {
		t.Errorf("the new term counts as %+v, want from %v", yes, first)
	}
	if no := b.last(reportNo); no.Token != 7 {
		t.Errorf("the end of the old term was reported as %+v", no)
	}
}

func TestRememberBelievesAYes(t *testing.T) {
	truth := answer{}
	ask := remember(func() answer { return truth }, 3)
	if ask().leads {
		t.Fatal("leads before it was elected")
	}
	truth = answer{leads: true, token: 7}
	if !ask().leads {
		t.Fatal("a no is believed too")
	}
	truth = answer{}
	for i := range 2 {
		if !ask().leads {
			t.Fatalf("forgot the yes at question %d", i+1)
		}
	}
	if ask().leads {
		t.Error("the yes is believed for ever")
	}
}
