package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// delivered notes what a process is about to learn.
func (w *World) delivered(n *node, l *letter, now clock.Reading) {
	switch l.kind {
	case protocol.Stand, protocol.StandOnce, protocol.Try:
		if n.m.State() == protocol.Off {
			n.healthy = !n.cfg.HealthChecked // what the check said before is over
		}
	case protocol.Healthy, protocol.Unhealthy:
		n.healthy = l.kind == protocol.Healthy
	case protocol.Loaded, protocol.Wrote:
		n.awaits = false
		w.heard(n, l, now)
	case protocol.WorkChange:
		if n.work.reported < 0 {
			n.work.reported = w.now
		}
	case protocol.Pushed:
		n.quietUntil, n.failedAt = 0, -farAway // what is pushed may be acted upon
	}
	pushed := l.kind == protocol.Pushed
	if l.state == nil || pushed && n.m.State() == protocol.Off || !pushed && l.outcome != protocol.OK {
		return
	}
	s := n.session
	epoch := s.epoch
	if s.show(l.state, l.abandoned, w.now); s.epoch != epoch {
		n.disproved = "" // what it knows is later than that
	}
	st := s.high
	if !s.owns(st) || st.mark != l.state.mark {
		return
	}
	k := &n.known
	if st.record.Token > k.token || st.attempt.sent.reading.Mono > k.sent.reading.Mono {
		k.sent = st.attempt.sent
	}
	k.token, k.state = st.record.Token, st
}

// heard notes what a reply asks for or proves.
func (w *World) heard(n *node, l *letter, now clock.Reading) {
	n.failures, n.failedAt = n.failures+1, w.now
	if s := n.m.State(); s == protocol.Leading || s == protocol.Draining ||
		l.outcome == protocol.OK || l.outcome == protocol.Conflict {
		n.failures = 0 // a leader has its lease to count by
	}
	switch l.outcome {
	case protocol.NotApplied:
		asked := min(l.retry, max(n.cfg.Backoff.Max, n.cfg.TTL))
		if s := n.m.State(); s == protocol.Leading || s == protocol.Draining {
			asked = 0 // as far as its lease allows, which L3 judges
		}
		n.quietUntil = now.Mono + asked
	case protocol.Conflict:
		n.disproved, n.insisted = l.base, 0
	case protocol.OK:
		if l.state.version != n.disproved {
			break
		}
		if n.insisted++; n.insisted > 2 {
			n.disproved = "" // by now it may believe what it is shown
		}
	}
}

// checkPatience is L5 towards a store that asked for a pause.
func (w *World) checkPatience(n *node) {
	if mono := n.read().Mono; mono < n.quietUntil {
		w.fail(L5, int(n.index), "it calls %v before the store asked it to", n.quietUntil-mono)
	}
	const many = 10
	if n.failures > many && w.now-n.failedAt < w.atLeast(n, n.cfg.TTL/10)-rounding {
		w.fail(L5, int(n.index), "it calls %v after its call number %d in a row has failed", w.now-n.failedAt, n.failures)
	}
}

// checkWrite judges a write that a machine asks for, by what it was shown.
func (w *World) checkWrite(n *node, c *call, e *protocol.Effect) {
	s, node, r := n.session, int(n.index), &e.Record
	if c.from == nil || c.from.version != e.Base.Version {
		w.fail(Fields, node, "a %v starts from version %q without its origin", e.Purpose, e.Base.Version)
		c.from = w.store.states[0]
	}
	if n.disproved != "" && c.base == n.disproved && !w.forked {
		w.fail(L5, node, "it writes over %q again, which was rejected", c.base)
	}
	if s.used(r.Renewals) {
		w.fail(S7, node, "number %d is used for a second attempt", r.Renewals)
	}
	s.numbers = append(s.numbers, r.Renewals)
	base := c.from
	if r.Token > protocol.MaxToken || r.Token < base.record.Token || s.high != nil && r.Token < s.high.record.Token {
		w.fail(S2, node, "a %v has token %d, where %d was shown", e.Purpose, r.Token, s.high.record.Token)
	}
	switch e.Purpose {
	case protocol.Bid:
		w.checkBid(n, c, r)
		w.checkTakeover(n, c)
	case protocol.Renew:
		w.checkRenewal(n, c, r)
	case protocol.Release:
		w.checkRelease(n, c, r)
	}
}

func (w *World) checkBid(n *node, c *call, r *protocol.Record) {
	node := int(n.index)
	if r.Token <= n.session.token || r.Token <= c.from.record.Token {
		w.fail(S2, node, "a bid has token %d, where %d was shown", r.Token, n.session.token)
	}
	if n.work.running {
		w.fail(S8, node, "it bids while work of term %d has not returned", n.work.token)
	}
	if k := &n.work; k.handed && !k.passed && !w.handedOver(n) {
		w.fail(S8, node, "it bids before the drain of term %d has passed", k.token)
	}
	if c.from.record.Paused {
		w.fail(Requests, node, "it bids while the election is paused")
	}
	if n.bids++; n.aim == protocol.Try && n.bids > 1 {
		w.fail(L5, node, "one try takes %d bids", n.bids)
	}
	if n.resigned > 0 && n.aim != protocol.Try && n.session.high.record.Token <= n.resigned &&
		w.now-n.resignedAt < w.atLeast(n, n.cfg.TTL) {
		w.fail(Reserve, node, "it bids %v after it resigned, and no other has led", w.now-n.resignedAt)
	}
	if r.TTL != n.cfg.TTL || r.Session != n.session.name || r.Leader != n.cfg.ID {
		w.fail(S9, node, "a bid is not by its own name, session and TTL: %+v", *r)
	}
}

func (w *World) checkRenewal(n *node, c *call, r *protocol.Record) {
	node, base := int(n.index), &c.from.record
	if !n.session.owns(c.from) || base.Token != r.Token {
		w.fail(S5, node, "it renews term %d from a record of term %d of session %q", r.Token, base.Token, base.Session)
	}
	if higher(n.session.high, c.from) {
		w.Coverage.mark(WentOnLower)
	}
	if r.Request != base.Request || r.Paused != base.Paused {
		w.fail(Requests, node, "a renewal loses a request: %+v becomes %+v", *base, *r)
	}
}

func (w *World) checkRelease(n *node, c *call, r *protocol.Record) {
	node, k := int(n.index), &n.work
	if k.running {
		w.fail(S8, node, "it releases while work of term %d has not returned", k.token)
	}
	if k.handed && c.from.record.Token == k.token && !k.passed && !w.handedOver(n) {
		w.fail(S8, node, "it releases before the drain of term %d has passed", k.token)
	}
	if r.Paused != c.from.record.Paused {
		w.fail(Requests, node, "a release loses a pause")
	}
	if !n.session.owns(c.from) {
		w.Coverage.mark(VacatedDoubt)
		w.checkTakeover(n, c)
	}
}

// handedOver reports whether leadership that was handed out without a function has had its drain, by true time: the
// wait protects others, and no clock of the node's may shorten it.
func (w *World) handedOver(n *node) bool {
	k := &n.work
	return k.hasEnded && w.now-k.endedAt >= w.atLeast(n, n.cfg.Drain)-rounding
}

// checkTakeover judges whether the seat was free for a session that wants to write over a record: nobody may write
// over another's before that other must have stopped. The wait is judged by true time: the rates of the clocks are the
// machine's own concern.
func (w *World) checkTakeover(n *node, c *call) {
	s, base := n.session, c.from
	g := s.sighting(base)
	switch {
	case !g.known:
		w.fail(S13, int(n.index), "it writes over a record that it was never shown")
	case s.high.mark == base.mark:
		c.attempt.low = w.now
		w.checkNewest(n, base, g, w.now-g.firstAt)
	case g.epoch != s.epoch:
		w.checkWait(n, S13, 0, s.longest)
	default:
		c.attempt.low = g.lowAt
		w.Coverage.mark(TookLower)
		w.checkWait(n, S13, w.now-g.lowAt, s.longest)
	}
}

// checkNewest judges a write over the highest record that the session was shown, waited after first sight.
func (w *World) checkNewest(n *node, base *state, g *sighting, waited time.Duration) {
	r := &base.record
	switch {
	case n.session.owns(base), !base.exists, g.abandoned:
	case r.Vacant() && (r.Reserved == "" || r.Reserved == n.cfg.ID):
	case r.Vacant():
		w.checkWait(n, Reserve, waited, r.TTL)
	case waited >= n.cfg.TTL:
		w.checkWait(n, S9, waited, w.longestShown(n.session, base))
	default:
		w.checkWait(n, S10, waited, w.longestShown(n.session, base))
	}
}

// longestShown is the longest TTL that a session was shown of the term of st: a shorter one, by somebody's hand,
// shortens no wait.
func (w *World) longestShown(s *session, st *state) time.Duration {
	ttl := time.Duration(0)
	for _, other := range w.store.states {
		if other.owner == st.owner && other.record.Token == st.record.Token {
			ttl = max(ttl, s.sighting(other).ttl)
		}
	}
	return ttl
}

func (w *World) checkWait(n *node, r Rule, waited, ttl time.Duration) {
	if waited < ttl-rounding {
		w.fail(r, int(n.index), "it writes over a record after %v, the wait is %v", waited, ttl)
	}
}

// checkEffect judges what a machine reports.
func (w *World) checkEffect(n *node, e *protocol.Effect, now clock.Reading) {
	node := int(n.index)
	if !n.on {
		w.fail(S11, node, "%v after it was done", e.Do)
	}
	switch e.Do {
	case protocol.Elected:
		w.checkElected(n, e, now)
	case protocol.Extended:
		if e.Token != n.work.token {
			w.fail(S2, node, "the token of a term changes from %d to %d", n.work.token, e.Token)
		}
	case protocol.Ended:
		w.checkEnded(n, e)
	case protocol.Vacated:
		if !w.wasVacant(e.Token) {
			w.fail(S7, node, "it says that term %d was given back, the store never knew", e.Token)
		}
	case protocol.Done:
		if n.awaits {
			w.fail(S11, node, "it is done with a call in flight")
		}
		w.checkDone(n)
		if !n.hasLeaving || now.Since(n.leaving) < n.cfg.TTL/2 {
			n.session.began, n.session.ended = n.standsSince, w.now
		}
	}
}

// checkDone checks that a candidacy was not ended by itself.
func (w *World) checkDone(n *node) {
	l := &n.letter
	free := l.kind == protocol.Loaded && l.outcome == protocol.OK && l.state.vacant() &&
		l.state.record.Reserved == "" && l.state.record.Token < protocol.MaxToken &&
		!l.state.record.Paused && l.state == n.session.high &&
		l.state == w.store.current // otherwise a conflict may have told it that this is an old look
	if seen, _ := n.m.Seen(n.read()); free && seen.Version != l.state.version {
		free = false // it has seen something lower, and now a vacancy that may have come of that: it is held (S13)
	}
	willing := n.healthy && !n.led && !n.hasLeaving && n.resigned == 0 && !n.stopping
	if n.aim == protocol.Try && n.bids == 0 && free && willing && !w.forked && w.plan.TTLUnit == 0 {
		w.fail(L1, int(n.index), "a try finds the seat free, and does not bid")
	}
	gaveUp := n.aim == protocol.Stand || n.aim == protocol.StandOnce && !n.led
	if gaveUp && !n.stopping {
		w.fail(L4, int(n.index), "it gives up without being told")
	}
}

func (w *World) checkElected(n *node, e *protocol.Effect, now clock.Reading) {
	node := int(n.index)
	n.led, n.resigned, n.failures = true, 0, 0
	if n.known.token != e.Token || n.known.state == nil || n.known.state.origin == initial {
		w.fail(S7, node, "it leads term %d without having been shown that its bid landed", e.Token)
	}
	if n.work.running {
		w.fail(S8, node, "it leads term %d while work of term %d has not returned", e.Token, n.work.token)
	}
	if now.Since(n.known.sent.reading) >= span(n)+2 {
		w.fail(S3, node, "it leads by a reply later than the lease")
	}
	for i := range w.terms {
		t := &w.terms[i]
		if t.token < e.Token || w.parted(t.state, n.known.state) || n.session.kin(t.session) {
			continue
		}
		if t.token == e.Token || n.known.state == nil || !w.shortened(t, n.known.state, n.cfg.TTL) {
			w.fail(S2, node, "term %d of %s follows term %d of node %d", e.Token, n.session.name, t.token, t.node.index)
		}
	}
	w.terms = append(w.terms, term{e.Token, n, n.session, n.known.state})
}

// parted reports whether two states are of histories that parted when the store lost writes.
func (w *World) parted(x, y *state) bool {
	return x != nil && y != nil && !ancestor(x, y) && !ancestor(y, x)
}

// checkEnded checks that a term was not ended by a request that did not address it.
func (w *World) checkEnded(n *node, e *protocol.Effect) {
	w.Coverage.cause(e.Cause)
	failed := e.Cause == protocol.Sick && n.healthy // too many failures in a row
	if !failed && (e.Cause != protocol.Resigned || n.shows(func(r *protocol.Record) bool { return r.Paused })) {
		return
	}
	n.resigned, n.resignedAt = e.Token, w.now
	if e.Cause == protocol.Sick {
		return
	}
	asked := n.shows(func(r *protocol.Record) bool { return r.Request.Token == e.Token })
	if n.letter.kind != protocol.Resign && !asked {
		w.fail(Requests, int(n.index), "term %d obeys a request that addresses another", e.Token)
	}
}

// shows reports whether the highest state that the process was shown, or the last one, is so.
func (n *node) shows(is func(*protocol.Record) bool) bool {
	high, last := n.session.high, n.letter.state
	return high != nil && is(&high.record) || last != nil && is(&last.record)
}

// wasVacant reports whether the store ever held a vacant record of that term.
func (w *World) wasVacant(token uint64) bool {
	for _, st := range w.store.states {
		if st.exists && st.record.Vacant() && st.record.Token == token {
			return true
		}
	}
	return false
}

// stepped judges a machine after a step.
func (w *World) stepped(n *node, l *letter, before protocol.State, now clock.Reading) {
	state := n.m.State()
	if state == protocol.Releasing && before != protocol.Releasing {
		n.leaving, n.hasLeaving = now, true
	}
	if state == protocol.Standing {
		n.hasLeaving = false
	}
	if state == protocol.Leading && !n.healthy {
		w.fail(Health, int(n.index), "it leads though its health check has failed")
	}
	if l.revoked && state == protocol.Leading && n.m.Token() == l.state.record.Token {
		w.fail(Revoking, int(n.index), "term %d leads on though it was revoked", n.m.Token())
	}
	if before == protocol.Draining && state != protocol.Draining && w.handedOver(n) {
		n.work.passed = true
	}
	w.checkTrust(n, l, now)
	w.checkWin(n, l, before, now)
	w.checkAwake(n, state, now)
}

// remembered is how many attempts in doubt a machine keeps at least.
const remembered = 32

// wants reports whether the machine has every reason to take a bid that landed for a win.
func (n *node) wants(st *state) bool {
	return n.session.attemptsSince(st.record.Renewals) < remembered && st.attempt.sent.at >= n.standsSince &&
		n.healthy && !n.stopping && !st.record.Paused && st.record.TTL == n.cfg.TTL
}

// checkWin is the other half of S7: a bid that is shown to have landed is a win, unless that comes too late or the
// seat is not wanted any more. (A push of what was lost or pruned since may seem to be later than the base of the bid.)
func (w *World) checkWin(n *node, l *letter, before protocol.State, now clock.Reading) {
	st := l.state
	if w.forked || w.pruned || w.edited || before != protocol.Standing || n.m.State() == protocol.Leading {
		return
	}
	if l.kind != protocol.Pushed && l.outcome != protocol.OK {
		return // it shows nothing
	}
	if st == nil || st != n.known.state || st.origin != byBid || n.session.sighting(st).firstAt != w.now {
		return
	}
	if n.wants(st) && now.Since(st.attempt.sent.reading) < span(n)-2 {
		w.fail(S7, int(n.index), "its bid for term %d landed, was shown to it in time, and is not taken for a win",
			st.record.Token)
	}
}

// checkAwake checks that a machine which waits for something has asked to be woken.
func (w *World) checkAwake(n *node, state protocol.State, now clock.Reading) {
	if n.awaits || state != protocol.Standing && state != protocol.Leading && state != protocol.Releasing {
		return
	}
	patience := max(n.session.longest, n.cfg.TTL, n.cfg.Backoff.Max)*2 + n.cfg.PriorityDelay
	if at, ok := n.m.Wake(); !ok || at > now.Mono+patience {
		w.fail(L4, int(n.index), "it sleeps as a %v, and nothing will wake it", state)
	}
}

// applied judges a write that the store has accepted, knowing everything.
func (w *World) applied(c *call, old, st *state) {
	node := int(c.node.index)
	c.applied = true
	if st.record.Token < old.record.Token || c.purpose == protocol.Bid && st.record.Token == old.record.Token {
		w.fail(S2, node, "the token falls from %d to %d in the store", old.record.Token, st.record.Token)
	}
	if st.extra != old.extra {
		w.fail(Fields, node, "a %v loses a field that the machine does not know", c.purpose)
	}
	if c.purpose == protocol.Renew && (old.record.Session != st.record.Session || old.record.Token != st.record.Token) {
		w.fail(S5, node, "a renewal of term %d replaces a record of term %d of another", st.record.Token, old.record.Token)
	}
	known := !w.forked && !w.edited // a seat that was free by an edited TTL may not be free to be vacated by the real one
	if at := c.attempt.sent.at; c.purpose == protocol.Bid && at >= c.session.began && at <= c.session.ended && known {
		w.fail(S11, node, "a bid lands after its candidate was done")
	}
	w.accepted(c, st)
}
