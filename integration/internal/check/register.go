package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// fenced is the state of a register: the highest token that it has met, and its value.
type fenced struct {
	mark  uint64
	value int64
}

// set is an input that brings a register into a state, whatever it was in.
type set fenced

// model is a register with a fence. A history of one register is linearizable if and only if porcupine finds an order.
var model = porcupine.Model{
	Init: func() any { return fenced{} },
	Step: func(state, input, _ any) (bool, any) {
		if s, ok := input.(set); ok {
			return true, fenced(s)
		}
		return step(state.(fenced), input.(*Operation))
	},
}

// step does an operation, and reports whether it can have ended as it did.
//
// An operation of which nobody knows whether it was done is one that nobody waits for: done when its turn comes. That
// it never was is the same as that it came late enough for its token to be refused, or for nobody to see it.
func step(s fenced, o *Operation) (bool, any) {
	if o.Token != 0 && o.Token < s.mark {
		return o.Outcome != history.OK, s
	}
	if o.Outcome == history.Refused {
		return false, s
	}
	s.mark = max(s.mark, o.Token)
	if o.Kind == history.Write {
		s.value = o.Value
		return true, s
	}
	return o.Outcome != history.OK || o.Read == s.value, s
}

// register searches, for each register, for an order of its operations.
func register(r *Run, options Options) (j judgement) {
	deadline := time.Now().Add(options.Timeout)
	unknown := 0
	for name, all := range r.registers() {
		for _, o := range all {
			if o.Outcome == history.Unknown {
				unknown++
			}
		}
		for _, part := range parts(bounded(all)) {
			switch part.search(time.Until(deadline)) {
			case porcupine.Ok:
			case porcupine.Illegal:
				j.add(part.Span, r.excusedBetween(part.Span), "%s: no order explains %s", name, part.tell(r))
			case porcupine.Unknown:
				j.undecided = fmt.Sprintf("no order of the operations was found in %v", options.Timeout)
			}
		}
	}
	j.note = fmt.Sprintf("%s, %d of them in doubt", count(len(r.Operations), "operation"), unknown)
	if len(r.Operations) == 0 {
		j.undecided = "nobody used the register"
	}
	return j
}

// registers returns the operations of each register in the order in which they were sent, without those that were
// certainly not done.
func (r *Run) registers() map[string][]*Operation {
	out := map[string][]*Operation{}
	for _, o := range r.Operations {
		if o.Outcome != history.Failed {
			out[o.Register] = append(out[o.Register], o)
		}
	}
	return out
}

// bounded gives operations in doubt a return, and leaves out those that cannot have been done. Once a higher token has
// been accepted it is the same whether one is done or refused; so each can be taken to have returned by then. Without
// that, every operation in doubt would be concurrent with all that follow, and the search would not end.
func bounded(operations []*Operation) (out []*Operation) {
	for _, o := range operations {
		if o.Outcome == history.Unknown {
			end := never
			for _, other := range operations {
				if other.Outcome == history.OK && other.Token > o.Token && other.To < end {
					end = other.To
				}
			}
			if end < o.From || o.Token == 0 {
				continue
			}
			o = &Operation{Invoke: o.Invoke, Life: o.Life, Span: Span{o.From, end}, Outcome: o.Outcome}
		}
		out = append(out, o)
	}
	return out
}

// part is a piece of a register's history that can be judged by itself, since its beginning is known.
type part struct {
	Span
	begin      fenced
	operations []*Operation
}

// parts cuts a history after each operation that was accepted while no other was under way: it leaves the register in
// a state that does not depend on what was before.
func parts(operations []*Operation) (out []part) {
	p, last := part{}, history.Instant(0)
	for i, o := range operations {
		alone := last < o.From && (i+1 == len(operations) || o.To < operations[i+1].From)
		p.operations, last = append(p.operations, o), max(last, o.To)
		if alone && o.Outcome == history.OK && o.Token != 0 || i+1 == len(operations) {
			p.From, p.To = p.operations[0].From, min(last, latest(p.operations))
			out = append(out, p)
			p = part{begin: after(o)}
		}
	}
	return out
}

// after is the state that an accepted operation leaves behind.
func after(o *Operation) fenced {
	if o.Kind == history.Write {
		return fenced{o.Token, o.Value}
	}
	return fenced{o.Token, o.Read}
}

// latest is the last instant that the operations speak of.
func latest(operations []*Operation) (out history.Instant) {
	for _, o := range operations {
		out = max(out, o.From)
		if o.To != never {
			out = max(out, o.To)
		}
	}
	return out
}

func (p part) search(timeout time.Duration) porcupine.CheckResult {
	// Zero would be no limit.
	timeout = max(timeout, time.Nanosecond)
	begin := int64(p.From) - 1
	operations := []porcupine.Operation{{Input: set(p.begin), Call: begin, Return: begin}}
	for _, o := range p.operations {
		operations = append(operations, porcupine.Operation{Input: o, Call: int64(o.From), Return: int64(o.To)})
	}
	return porcupine.CheckOperationsTimeout(model, operations, timeout)
}

// tell lists the first few operations.
func (p part) tell(r *Run) string {
	const most = 6
	var told []string
	for i, o := range p.operations {
		if i == most {
			told = append(told, fmt.Sprintf("and %d more", len(p.operations)-most))
			break
		}
		told = append(told, fmt.Sprintf("%v at %s", o, r.Time(o.From)))
	}
	return fmt.Sprintf("%s, beginning with the value %d under token %d",
		strings.Join(told, ", "), p.begin.value, p.begin.mark)
}

// counter finds increments that another one was written over.
func counter(r *Run, _ Options) (j judgement) {
	total := 0
	registers := r.registers()
	for _, name := range slices.Sorted(maps.Keys(registers)) {
		c := r.increments(registers[name])
		total += len(c.done)
		by := map[int64]*Operation{}
		for _, o := range c.done {
			if other := by[o.Value]; other != nil {
				known := Span{min(other.From, o.From), max(other.To, o.To)}
				j.add(known, r.excusedBetween(known), "%s: %v at %s and %v at %s both counted to %d",
					name, other, r.Time(other.From), o, r.Time(o.From), o.Value)
			}
			by[o.Value] = o
		}
		c.compareWithEnd(r, name, &j)
	}
	j.note = count(total, "increment")
	if total == 0 {
		j.undecided = "nobody counted"
	}
	return j
}

// increments are what was added to a counter.
type increments struct {
	done  []*Operation
	doubt int
	// end is the last read, nil if it was not after all that was done.
	end *Operation
}

func (*Run) increments(operations []*Operation) (c increments) {
	var last history.Instant
	for _, o := range operations {
		switch {
		case !o.Counter:
		case o.Kind == history.Write && o.Outcome == history.OK:
			c.done, last = append(c.done, o), max(last, o.To)
		case o.Kind == history.Write && o.Outcome == history.Unknown:
			c.doubt++
		case o.Kind == history.Read && o.Outcome == history.OK && (c.end == nil || o.From > c.end.From):
			c.end = o
		}
	}
	if c.end != nil && c.end.From <= last {
		c.end = nil
	}
	return c
}

// compareWithEnd finds what is lost without anybody having counted to the same number.
func (c increments) compareWithEnd(r *Run, name string, j *judgement) {
	if c.end == nil || len(c.done) == 0 {
		return
	}
	least, most := int64(len(c.done)), int64(len(c.done)+c.doubt)
	if c.end.Read >= least && c.end.Read <= most {
		return
	}
	known := Span{slices.MinFunc(c.done, func(a, b *Operation) int { return cmp.Compare(a.From, b.From) }).From, c.end.To}
	j.add(known, r.excusedBetween(known), "%s: %v at %s, after %s and %d in doubt",
		name, c.end, r.Time(c.end.From), count(len(c.done), "increment"), c.doubt)
}

// staleRefused finds what was accepted after something with a higher token had been.
func staleRefused(r *Run, _ Options) (j judgement) {
	for name, operations := range r.registers() {
		accepted := slices.DeleteFunc(operations, func(o *Operation) bool {
			return o.Outcome != history.OK || o.Token == 0
		})
		for _, p := range overtaken(accepted) {
			known := Span{p.higher.From, p.stale.To}
			j.add(known, r.excusedBetween(known), "%s: %v at %s, accepted after %v at %s",
				name, p.stale, r.Time(p.stale.From), p.higher, r.Time(p.higher.To))
		}
	}
	j.note = fmt.Sprintf("%s refused", count(r.Done("", history.Refused), "operation"))
	if len(r.Operations) == 0 {
		j.undecided = "nobody used the register"
	}
	return j
}

// pair is an operation that was accepted, and one with a higher token that had been accepted before it was sent.
type pair struct{ stale, higher *Operation }

// overtaken finds pairs among accepted operations, which are in the order in which they were sent.
func overtaken(accepted []*Operation) (out []pair) {
	byEnd := slices.SortedFunc(slices.Values(accepted), func(a, b *Operation) int { return cmp.Compare(a.To, b.To) })
	var highest *Operation
	for _, o := range accepted {
		for len(byEnd) > 0 && byEnd[0].To < o.From {
			if highest == nil || byEnd[0].Token > highest.Token {
				highest = byEnd[0]
			}
			byEnd = byEnd[1:]
		}
		if highest != nil && o.Token < highest.Token {
			out = append(out, pair{o, highest})
		}
	}
	return out
}
