package demo

import (
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

const (
	// pollEvery is how often a node asks whether it leads.
	pollEvery = time.Millisecond
	// wakeGap is the time between two questions from which on the node was frozen, or as good as that.
	wakeGap = 20 * time.Millisecond
)

// answer is what a node is told when it asks whether it leads.
type answer struct {
	leads bool
	token uint64
	left  time.Duration
}

// poll asks again and again, and keeps from when to when a term was certainly trusted.
type poll struct {
	ask    func() answer
	now    func() guard.Instant
	report func(report)

	token uint64        // of the last yes, zero after a no
	from  guard.Instant // after the first yes
	last  guard.Instant // before the last question
}

// once asks. The clock is read before and after: the answer was given in between, however long that took.
func (p *poll) once() {
	before := p.now()
	got := p.ask()
	after := p.now()
	if p.last != 0 && before.Sub(p.last) >= wakeGap {
		p.report(report{Kind: reportWoke, At: before, Token: got.token})
	}
	p.last = before
	if p.token != 0 && p.token != got.token {
		p.report(report{Kind: reportNo, At: before, Token: p.token})
	}
	if got.leads && got.token != p.token {
		p.from = after
	}
	p.token = got.token
	if got.leads {
		p.report(report{
			Kind: reportYes, At: after, Token: got.token, From: p.from, To: max(p.from, before), Left: got.left,
		})
	}
}

// remember makes an unsafe answer of a safe one: a yes is believed for so many questions before it is asked for again.
// That is how electors answer who look at the clock when they renew, and not when they are asked.
func remember(ask func() answer, questions int) func() answer {
	var known answer
	believed := 0
	return func() answer {
		if believed++; !known.leads || believed >= questions {
			known, believed = ask(), 0
		}
		return known
	}
}
