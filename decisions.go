package tenure

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Decision is one thing that a candidate decided, so that "why did it lose leadership at 14:02" has an answer.
type Decision struct {
	// At is when, by the wall clock of this process.
	At time.Time
	// Input is what led to it: "loaded", "pushed", "tick", …, with the outcome of a call that failed.
	Input string
	// Effect is what was done: "write renew", "ended", …
	Effect string
	// Token is that of the term concerned, zero if none.
	Token uint64
	// Reason says why.
	Reason string
}

// keptDecisions is how many decisions a candidate remembers.
const keptDecisions = 64

// decision is a Decision at rest: no text but the machine's constants.
type decision struct {
	at      int64 // Unix nanoseconds
	token   uint64
	reason  string
	input   protocol.Kind
	outcome protocol.Outcome
	effect  protocol.Do
	purpose protocol.Purpose
}

// ring keeps the last decisions. It grows only as far as it is used.
type ring struct {
	kept []decision
	next int
}

func (r *ring) add(d decision) {
	if len(r.kept) < keptDecisions {
		r.kept = append(r.kept, d)
		return
	}
	r.kept[r.next] = d
	r.next = (r.next + 1) % keptDecisions
}

// list returns the decisions, oldest first.
func (r *ring) list() []Decision {
	out := make([]Decision, 0, len(r.kept))
	for i := range r.kept {
		out = append(out, r.kept[(r.next+i)%len(r.kept)].expand())
	}
	return out
}

func (d decision) expand() Decision {
	return Decision{
		At: time.Unix(0, d.at), Input: describeInput(d.input, d.outcome), Effect: describeEffect(d.effect, d.purpose),
		Token: d.token, Reason: d.reason,
	}
}

func describeInput(kind protocol.Kind, outcome protocol.Outcome) string {
	if outcome == protocol.OK {
		return kind.String()
	}
	return kind.String() + ": " + outcome.String()
}

func describeEffect(do protocol.Do, purpose protocol.Purpose) string {
	if do == protocol.Write {
		return do.String() + " " + purpose.String()
	}
	return do.String()
}
