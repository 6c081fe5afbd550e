package check

import (
	"fmt"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Operation is something that was done to a register.
type Operation struct {
	history.Invoke
	Life *Life
	// Span is from its sending until its return; as long as nobody knows better, it has no return.
	Span
	// Outcome is history.Unknown if it has no return. Read is what it read.
	Outcome string
	Read    int64

	ended bool
}

type operationID struct {
	life   lifeID
	number int
}

// never is later than everything.
const never = history.Instant(1<<63 - 1)

func (b *builder) addOperation(l *Life, e history.Event) {
	if e.Invoke != nil {
		id := operationID{lifeID{e.Process, e.Life}, e.Invoke.Operation}
		if b.operations[id] != nil {
			b.problem(e, "began operation %d twice", id.number)
			return
		}
		o := &Operation{Invoke: *e.Invoke, Life: l, Span: Span{e.At, never}, Outcome: history.Unknown}
		if o.Kind != history.Read && (o.Kind != history.Write || o.Token == 0) {
			b.problem(e, "%s the register with token %d", o.Kind, o.Token)
			return
		}
		b.operations[id], b.run.Operations = o, append(b.run.Operations, o)
		return
	}
	o := b.operations[operationID{lifeID{e.Process, e.Life}, e.Return.Operation}]
	if o == nil || o.ended {
		b.problem(e, "ended operation %d, which was not open", e.Return.Operation)
		return
	}
	o.ended = true
	switch e.Return.Outcome {
	case history.OK, history.Refused, history.Failed:
		o.To, o.Outcome, o.Read = e.At, e.Return.Outcome, e.Return.Value
	case history.Unknown:
	default:
		b.problem(e, "ended operation %d with %q", e.Return.Operation, e.Return.Outcome)
	}
}

// String tells what was done.
func (o *Operation) String() string {
	what := fmt.Sprintf("%s's %s of %d", o.Life.Process, o.Kind, o.Value)
	if o.Kind == history.Read {
		what = fmt.Sprintf("%s's read of %d", o.Life.Process, o.Read)
	}
	return fmt.Sprintf("%s with token %d (%s)", what, o.Token, o.Outcome)
}
