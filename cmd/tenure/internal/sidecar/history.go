package sidecar

import (
	"time"

	"github.com/tenure-go/tenure"
)

// Bounds of what is kept of each election for who looks later. The oldest goes first.
const (
	maxChanges = 200
	maxActions = 50
)

// pastChange is a change of an election as it is kept. Change is its kind, "store-failed" or "regained".
type pastChange struct {
	Number uint64    `json:"number"` // counts from the start of the sidecar
	At     time.Time `json:"at"`
	Change string    `json:"change"`
	Reason string    `json:"reason"`
	State  string    `json:"state"`
	Leader string    `json:"leader"`
	Token  uint64    `json:"token"`
	// Since is when the term began by the clock of its leader, for those that began before the sidecar looked.
	Since time.Time `json:"elected_at,omitzero"`
}

// pastAction is what somebody asked of an election through this sidecar.
type pastAction struct {
	Number uint64    `json:"number"`
	At     time.Time `json:"at"`
	Action string    `json:"action"`
	By     string    `json:"by"`
	To     string    `json:"to,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Leader string    `json:"leader"`
	Token  uint64    `json:"token"`
	Error  string    `json:"error,omitempty"`
}

// history is what happened in an election since the sidecar began to look, as far as it is kept.
type history struct {
	changes []pastChange
	actions []pastAction
	last    uint64 // number given last
}

func (h *history) addChange(c pastChange) {
	h.last++
	c.Number = h.last
	h.changes = appendBounded(h.changes, c, maxChanges)
}

func (h *history) addAction(a pastAction) {
	h.last++
	a.Number = h.last
	h.actions = appendBounded(h.actions, a, maxActions)
}

// after returns what has a higher number, oldest first.
func (h *history) after(number uint64) (changes []pastChange, actions []pastAction) {
	changes, actions = []pastChange{}, []pastAction{}
	for _, c := range h.changes {
		if c.Number > number {
			changes = append(changes, c)
		}
	}
	for _, a := range h.actions {
		if a.Number > number {
			actions = append(actions, a)
		}
	}
	return changes, actions
}

func appendBounded[T any](list []T, item T, most int) []T {
	if len(list) == most {
		list = append(list[:0], list[1:]...)
	}
	return append(list, item)
}

// remember keeps a change, or the beginning of a failure or its end, with its reason. failed tells whether the store
// failed until then.
func (e *election) remember(n notice, failed bool) {
	kind, r := n.now.Kind, n.now.Record
	switch {
	case n.err != nil:
		at := stamp(time.Now())
		e.history.addChange(pastChange{At: at, Change: "store-failed", Reason: n.err.Error(), State: "unknown"})
		return
	case failed && kind == tenure.ChangeSilent:
		return // nobody has looked, so it means nothing
	}
	state, why := e.describe(n.before, n.now)
	if kind == tenure.ChangeRenewed || failed && kind == tenure.ChangeReturned {
		kind = tenure.ChangeRegained // what it was silent in was the store's failure
	}
	if kind == tenure.ChangeRegained {
		why = "the store answers again"
	}
	c := pastChange{
		At: stamp(n.now.At), Change: kind.String(), Reason: why, State: state, Leader: r.Leader, Token: r.Token,
	}
	if !r.Vacant() {
		c.Since = r.ElectedAt
	}
	e.history.addChange(c)
}
