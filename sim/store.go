package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// origin is how a state of the record came about.
type origin uint8

const (
	initial origin = iota
	byBid          // these three by a candidate's write
	byRenewal
	byRelease
	byOperator // a request was added or lifted; the mark is that of the parent
	byDeletion // by hand
	byPruning  // after the floor was raised
	byForgetting
)

// state is one state of the record. The states of a history form a tree: a store that fails over goes back to an
// earlier one.
type state struct {
	index  int32
	mark   int32 // equal for states with one mark
	parent *state
	origin origin
	exists bool

	version string
	record  protocol.Record
	extra   uint64 // a field that the machine does not know

	owner   *session // of a record that is held
	attempt attempt  // that made the mark
	applied time.Duration
	lost    time.Duration // when the store forgot it, -1 while it has not
}

// attempt is a write by a candidate.
type attempt struct {
	session *session
	sent    sentAt
	longest time.Duration // the longest TTL that the candidate had seen
	over    uint64        // the term that it is written over
	shown   time.Duration // the longest TTL that the candidate had seen of that one
	low     time.Duration // true time at which it saw its base to be lower than the highest seen, -1 if it was not
}

func (s *state) vacant() bool { return !s.exists || s.record.Vacant() }

// point is what the store held from an instant on.
type point struct {
	at    time.Duration
	state *state
}

// store is a linearizable register with versions that never recur, and what may befall it.
type store struct {
	w        *World
	states   []*state // of this history; the array beyond is kept for the next
	marks    int32
	versions int
	floor    uint64
	current  *state
	timeline []point

	frozen      int // reasons not to answer
	waiting     []waiting
	away        int
	credentials int
	throttling  int
}

// waiting is a request that arrived while the store was frozen.
type waiting struct {
	call       int32
	suppressed bool
}

func (s *store) begin(w *World) {
	*s = store{w: w, states: s.states[:0], timeline: s.timeline[:0], waiting: s.waiting[:0]}
	// The first versions of two histories differ, or a test could rely on them.
	s.versions = w.random.n(3)
	first := s.add(nil, initial)
	if w.plan.Record && w.plan.Token > 0 {
		first.exists = true
		first.record.Token, first.record.Renewals = w.plan.Token, uint64(w.random.n(20))
		first.record.TTL = w.plan.longest()
		first.version = s.nextVersion()
	} else {
		s.floor = w.plan.Token
		first.record.Token = s.floor
	}
	s.become(first)
}

// add makes a state with the parent's content.
func (s *store) add(parent *state, o origin) *state {
	n := len(s.states)
	if n < cap(s.states) {
		s.states = s.states[:n+1]
	} else {
		s.states = append(s.states, nil)
	}
	if s.states[n] == nil {
		s.states[n] = new(state)
	}
	st := s.states[n]
	*st = state{index: int32(n), parent: parent, origin: o, applied: s.w.now, lost: -1}
	if parent != nil {
		st.record, st.extra, st.exists, st.owner = parent.record, parent.extra, parent.exists, parent.owner
		st.mark, st.attempt = parent.mark, parent.attempt
	}
	if o != byOperator {
		st.mark = s.marks
		s.marks++
	}
	return st
}

func (s *store) nextVersion() string {
	s.versions++
	return name(versionNames, s.versions)
}

// become makes st what the store holds, and pushes it.
func (s *store) become(st *state) {
	s.current = st
	s.timeline = append(s.timeline, point{s.w.now, st})
	s.w.mix(uint64(st.index)<<32 | uint64(st.mark))
	s.w.push(st)
}

// swap is the compare-and-swap. It returns nil if the version is not the current one.
func (s *store) swap(c *call) *state {
	old := s.current
	if old.version != c.base || !old.exists && s.belowFloor(&c.record) {
		return nil
	}
	st := s.add(old, byBid+origin(c.purpose))
	st.exists, st.version = true, s.nextVersion()
	st.record, st.extra = c.record, c.extra
	if unit := s.w.plan.TTLUnit; unit > 0 {
		st.record.TTL -= st.record.TTL % unit
	}
	st.owner = nil
	if !st.record.Vacant() {
		st.owner = c.session
	}
	st.attempt = c.attempt
	s.shareMark(st)
	s.w.applied(c, old, st)
	s.become(st)
	return st
}

// shareMark gives a record the mark of another that looks the same. Two may, once the store has gone back: vacant ones,
// and one bid that lands twice since there was no record each time.
func (s *store) shareMark(st *state) {
	if !s.w.forked {
		return
	}
	for _, other := range s.states[:st.index] {
		if other.exists && other.owner == st.owner && other.record.Token == st.record.Token &&
			other.record.Renewals == st.record.Renewals {
			st.mark = other.mark
		}
	}
}

// belowFloor reports whether a new record would start where an older one may have been.
func (s *store) belowFloor(r *protocol.Record) bool {
	return r.Token < s.floor || r.Token == s.floor && !r.Vacant()
}

// operate changes the record as an operator's tool does: by compare-and-swap, at once.
func (s *store) operate(change func(*protocol.Record)) {
	st := s.add(s.current, byOperator)
	st.version = s.nextVersion()
	change(&st.record)
	s.become(st)
}

// forget leaves a tombstone in place of a record that is held.
func (s *store) forget() {
	st := s.add(s.current, byForgetting)
	st.version, st.owner = s.nextVersion(), nil
	r := &st.record
	r.Leader, r.Session, r.Reserved, r.Request = "", "", "", protocol.Request{}
	r.Renewals += 1 + s.w.random.next()%(1<<24) // so that no two look the same after the store went back
	s.become(st)
}

// remove deletes the record physically.
func (s *store) remove(o origin) {
	old := s.current
	st := s.add(nil, o)
	s.clear(st)
	if o == byDeletion {
		s.lose(old, nil)
	} else {
		st.parent = old
	}
	s.become(st)
}

// clear makes st a missing record. One absence looks like another: they bear one mark as long as the floor is the same.
func (s *store) clear(st *state) {
	st.record.Token = s.floor
	for _, other := range s.states {
		if !other.exists && other != st && other.record.Token == s.floor {
			st.mark = other.mark
		}
	}
}

// goBack makes an earlier state the current one again.
func (s *store) goBack(to *state) {
	s.lose(s.current, to)
	if !to.exists && to.record.Token != s.floor {
		to = s.add(to, byPruning) // the floor is not the election's: it stays
		s.clear(to)
	}
	s.become(to)
}

// lose marks the states after to, up to from, as lost.
func (s *store) lose(from, to *state) {
	for st := from; st != to && st != nil; st = st.parent {
		st.lost = s.w.now
	}
}

// stale is what a replica holds that lags by lag.
func (s *store) stale(lag time.Duration) *state {
	for i := len(s.timeline) - 1; i > 0; i-- {
		if s.timeline[i].at <= s.w.now-lag {
			return s.timeline[i].state
		}
	}
	return s.timeline[0].state
}

// abandoned is whether the store vouches for it that nobody can act under the state.
func (s *store) abandoned(st *state) bool {
	return s.w.plan.Vouch && st.exists && st.owner != nil && st.owner.dead
}

// ancestor reports whether a is b or was built upon by it.
func ancestor(a, b *state) bool {
	for ; b != nil; b = b.parent {
		if a == b {
			return true
		}
	}
	return false
}
