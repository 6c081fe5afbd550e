package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// session is one process's life, and what it was shown of the record: the referee's own count of it, by which it
// judges whether a bid was allowed.
type session struct {
	index int
	name  string
	node  *node
	cfg   protocol.Config
	dead  bool

	seen    []sighting // by mark
	high    *state     // the highest shown
	epoch   int32      // how often that has changed
	longest time.Duration
	token   uint64 // the highest shown
	numbers []uint64
	// A copy of a process has the session of the one that it was copied from, and when.
	origin   *session
	copiedAt time.Duration
	copied   bool // this process or one that it stems from was copied

	// When the last candidacy began and ended that had the time to settle every bid which was in doubt.
	began, ended time.Duration
}

// sighting is what a session was shown of one mark.
type sighting struct {
	known     bool
	abandoned bool
	firstAt   time.Duration
	ttl       time.Duration // the longest that was shown with it
	// Since when it is known to be lower than the highest that was seen, and in which epoch that was noted.
	lowAt time.Duration
	epoch int32
	// The last of its states that was shown.
	last *state
}

func (w *World) newSession(n *node) *session {
	var s *session
	if k := len(w.spare); k > 0 {
		s = w.spare[k-1]
		w.spare = w.spare[:k-1]
	} else {
		s = new(session)
	}
	*s = session{
		index: len(w.sessions), name: name(sessionNames, len(w.sessions)), node: n, epoch: 1, ended: -1,
		seen: s.seen[:0], numbers: s.numbers[:0],
	}
	w.sessions = append(w.sessions, s)
	return s
}

// sighting returns what the session was shown of the mark of st.
func (s *session) sighting(st *state) *sighting {
	for int(st.mark) >= len(s.seen) {
		s.seen = append(s.seen, sighting{})
	}
	return &s.seen[st.mark]
}

// maxTTL is the longest that a candidate may have; nobody waits for longer, whatever a record says.
const maxTTL = 24 * time.Hour

// show counts a state that the session is shown.
func (s *session) show(st *state, abandoned bool, now time.Duration) {
	g := s.sighting(st)
	if !g.known {
		g.known, g.firstAt = true, now
	}
	ttl := min(st.record.TTL, maxTTL)
	g.ttl = max(g.ttl, ttl)
	g.abandoned = g.abandoned || abandoned
	g.last = st
	s.longest = max(s.longest, ttl)
	switch {
	case s.high == nil || higher(st, s.high):
		s.high = st
		s.epoch++
	case st.mark == s.high.mark:
		s.high = st
	case g.epoch != s.epoch:
		g.epoch, g.lowAt = s.epoch, now
	}
	s.token = max(s.token, st.record.Token)
}

// owns reports whether the record was written by this process, or by the one that it was copied from before that.
func (s *session) owns(st *state) bool {
	if st.owner == nil || st.record.Session != s.name {
		return false
	}
	for x := s; x != nil; x = x.origin {
		if st.owner == x {
			return true
		}
		if st.attempt.sent.at > x.copiedAt {
			return false
		}
	}
	return false
}

// kin reports whether two processes have, or had, one session.
func (s *session) kin(other *session) bool { return s.root() == other.root() }

func (s *session) root() *session {
	for s.origin != nil {
		s = s.origin
	}
	return s
}

// higher reports whether st is later than high in any history that the protocol can make.
func higher(st, high *state) bool {
	a, b := &st.record, &high.record
	switch {
	case !st.exists && high.exists:
		return false // nobody can tell why it is missing
	case a.Token != b.Token:
		return a.Token > b.Token
	}
	return a.Renewals > b.Renewals || st.exists && !high.exists
}

// attemptsSince counts the attempts after that of the number.
func (s *session) attemptsSince(number uint64) int {
	for i := len(s.numbers) - 1; i >= 0; i-- {
		if s.numbers[i] == number {
			return len(s.numbers) - 1 - i
		}
	}
	return len(s.numbers)
}

// used reports whether the session has used a number for an attempt.
func (s *session) used(number uint64) bool {
	for i := len(s.numbers) - 1; i >= 0; i-- {
		if s.numbers[i] == number {
			return true
		}
	}
	return false
}
