package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// operate is what an operator does with the record through the store alone; false if it makes no sense at present.
func (w *World) operate(f Fault, d time.Duration) bool {
	s := &w.store
	if s.frozen > 0 || s.away > 0 {
		return false
	}
	if f == RaiseFloor {
		w.raiseFloor()
		return true
	}
	if !s.current.exists {
		return false
	}
	switch f {
	case AskResign, AskTransfer, AskWrongTerm:
		return w.askLeader(f)
	case PauseElection:
		s.operate(func(r *protocol.Record) { r.Paused = true })
		w.untilHealed(f, nil, d)
	case Forget, Prune:
		return w.clearAway(f)
	}
	return true
}

// askLeader adds a request to the record.
func (w *World) askLeader(f Fault) bool {
	s, r := &w.store, &w.random
	if s.current.vacant() {
		return false
	}
	q := protocol.Request{Token: s.current.record.Token}
	switch f {
	case AskTransfer:
		q.To = nodeIDs[r.n(len(w.nodes))]
	case AskWrongTerm:
		q.Token = max(1, q.Token-1+2*uint64(r.n(2)))
		if q.Token == s.current.record.Token {
			q.Token++
		}
	}
	s.operate(func(r *protocol.Record) { r.Request = q })
	s.current.extra = r.next() // a newer version of the tool adds a field of its own
	return true
}

// clearAway does what is allowed with a seat that nobody uses.
func (w *World) clearAway(f Fault) bool {
	s := &w.store
	if !s.current.vacant() || s.current.record.Paused {
		return false
	}
	if f == Forget {
		s.operate(func(*protocol.Record) {})
		s.current.extra = w.random.next()
		return true
	}
	s.floor = max(s.floor, s.current.record.Token)
	w.pruned = true
	s.remove(byPruning)
	return true
}

// raiseFloor is the pruning of another election's record: the floor is the store's, not the election's.
func (w *World) raiseFloor() {
	s := &w.store
	floor := max(s.floor, s.current.record.Token) + uint64(w.random.n(3))
	if floor+10 > protocol.MaxToken {
		return
	}
	s.floor = floor
	if !s.current.exists {
		st := s.add(s.current, byPruning)
		s.clear(st)
		s.become(st)
	}
}

// resumeElection lifts a pause.
func (w *World) resumeElection() {
	if s := &w.store; s.current.exists && s.current.record.Paused {
		s.operate(func(r *protocol.Record) { r.Paused = false })
	}
}
