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
	case EditTTL:
		return w.editTTL()
	case Forget, Prune:
		return w.clearAway(f)
	case ForgetSilent:
		return w.watchSilent()
	}
	return true
}

// editTTL changes the TTL in the record of a leader, or to what no candidate can have.
func (w *World) editTTL() bool {
	s, r := &w.store, &w.random
	if s.current.vacant() || s.current.record.TTL > time.Minute {
		return false
	}
	ttl := pick(r, s.current.record.TTL/2, s.current.record.TTL*2, s.current.record.TTL/10, 0, -time.Second)
	if w.plan.Absurd {
		ttl = 1<<63 - 1
	}
	s.operate(func(r *protocol.Record) { r.TTL = ttl })
	w.edited = true
	return true
}

// misled reports whether n may lead beside other because somebody shortened the TTL in the record of other's term, and
// n, or somebody who took the seat between the two, if only to give it back, never saw the longer one. Nothing protects
// against that.
func (w *World) misled(n, other *node) bool {
	st := other.known.state
	if !w.edited || st == nil {
		return false
	}
	for i := range w.terms {
		if t := &w.terms[i]; t.token > st.record.Token && w.shortened(t, st, other.cfg.TTL) {
			return true
		}
	}
	for _, taken := range w.store.states {
		a := &taken.attempt
		if taken.origin == byBid && a.over > 0 && a.over == st.record.Token && a.shown < other.cfg.TTL {
			return true
		}
	}
	return w.longestShown(n.session, st) < other.cfg.TTL
}

// shortened reports whether the leader of t did not know, when it bid, how long the TTL of the term of st was.
func (w *World) shortened(t *term, st *state, ttl time.Duration) bool {
	shown := w.longestShown(t.session, st)
	if t.state != nil && t.state.attempt.over == st.record.Token {
		shown = min(shown, t.state.attempt.shown) // it may have seen more since
	}
	return w.edited && shown < ttl
}

// watchSilent begins to watch a record: once its mark is unchanged for the TTL, by a perfect clock, it is forgotten.
func (w *World) watchSilent() bool {
	cur := w.store.current
	if cur.vacant() {
		return false
	}
	began := cur
	for began.parent != nil && began.parent.mark == began.mark {
		began = began.parent
	}
	at := max(w.now, began.applied+max(min(cur.record.TTL, maxTTL), cur.owner.cfg.TTL))
	w.afterDelay(at-w.now, event{kind: evForget, arg: cur.mark, gen: w.gen})
	return true
}

func (w *World) forgetSilent(mark int32, gen uint32) {
	s := &w.store
	if cur := s.current; gen == w.gen && cur.mark == mark && !cur.vacant() && s.frozen == 0 && s.away == 0 {
		w.Coverage.mark(ForgotSilent)
		s.forget()
	}
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
