package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// trust is what the referee knows of whether a process is trusted, in true time.
type trust struct {
	open    bool
	token   uint64
	seen    time.Duration // until when it was followed
	closed  time.Duration // when it was noticed to be over
	turns   uint32        // how often it began or ended
	refused uint64        // the term of which somebody was told that it is over
}

// known is the newest attempt of a session of which it was shown that it landed.
type known struct {
	token uint64
	sent  sentAt
	state *state
}

// term is one leadership.
type term struct {
	token   uint64
	node    *node
	session *session
	state   *state // of its bid
}

// settleTrust follows the trust in a process up to now. It has to be called before and after everything that changes
// a machine or its clocks; in between the clocks are linear and trust only ends.
func (w *World) settleTrust(n *node) {
	t := &n.trust
	trusted := n.alive && subject(n.m).Trusted(n.asked(w.now))
	switch {
	case t.open && !trusted:
		end := w.trustEnd(n, t.seen)
		w.closeTrust(n, end)
		w.checkTrustEnd(n, end)
	case !t.open && trusted:
		w.openTrust(n)
	}
	t.seen = w.now
}

// trustEnd inverts the machine's clocks: it returns the first instant since then at which the process was no longer
// trusted.
func (w *World) trustEnd(n *node, since time.Duration) time.Duration {
	low, high := since, w.now // trusted at low, not at high
	for n.alive && low+1 < high {
		if middle := low + (high-low)/2; n.m.Trusted(n.asked(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

func (w *World) closeTrust(n *node, at time.Duration) {
	n.trust.open, n.trust.closed = false, w.now
	n.trust.turns++
	if n.running() && n.m.State() == protocol.Leading {
		w.afterDelay(w.noticeTime(n), event{kind: evMustEnd, node: n.index, gen: n.trust.turns})
	}
	w.log.end(n.index, laneTrust, at)
	w.mix(uint64(at))
}

// checkTrustEnd is S3 by true time: whatever its clocks have shown, nobody may be trusted for longer after the sending
// of the attempt that landed than leaves its work the drain, within the TTL in the record.
func (w *World) checkTrustEnd(n *node, at time.Duration) {
	if n.known.token != n.trust.token {
		return
	}
	if end := n.known.sent.at + n.cfg.TTL - w.atLeast(n, n.cfg.Drain); at > end+rounding {
		w.fail(S3, int(n.index), "it was trusted for %v longer than the attempt that landed is worth", at-end)
	}
}

// rounding is what the referee lets pass as an error of arithmetic.
const rounding = 4

// atLeast is the true time that passes at least while the clocks of n count d.
func (w *World) atLeast(n *node, d time.Duration) time.Duration {
	return time.Duration(float64(d-n.cfg.Grain) / (1 + n.cfg.ClockError))
}

// noticeTime is how long it takes a process that runs to notice that its trust is over.
func (w *World) noticeTime(n *node) time.Duration {
	return w.trueTime(n.cfg.TTL/20) + 2*(w.plan.TimerLag+w.plan.MailboxLag+n.cfg.Grain)
}

// mustEnd is S4 for those who do not ask: soon after trust is over their context has ended too.
func (w *World) mustEnd(n *node, turn uint32) {
	w.settleTrust(n)
	if n.running() && n.trust.turns == turn && n.m.State() == protocol.Leading &&
		w.now >= max(n.trust.closed, n.runsSince)+w.noticeTime(n) {
		w.fail(S4, int(n.index), "trust in term %d has long been over, and its work was not told", n.m.Token())
	}
}

// mustOverrun is the end of S8: work that does not return within its drain is reported, and the seat left to others.
func (w *World) mustOverrun(n *node, gen uint32) {
	k := &n.work
	if n.running() && k.gen == gen && k.running && n.m.State() == protocol.Draining &&
		k.reported >= 0 && w.now >= max(k.reported, n.runsSince)+w.trueTime(n.cfg.Drain)+w.noticeTime(n) {
		w.fail(S8, int(n.index), "work of term %d has outlived its drain, and the seat is still held for it", k.token)
	}
}

// openTrust begins an interval of trust. Two overlap if the other one stands when the later begins.
func (w *World) openTrust(n *node) {
	n.trust.open, n.trust.token = true, n.m.Token()
	n.trust.turns++
	w.log.begin(n.index, laneTrust, n.trust.token, w.now, "")
	for i := range w.nodes {
		if other := &w.nodes[i]; other != n {
			w.settleTrust(other)
			w.checkExclusion(n, other)
		}
	}
	w.led(n)
}

// checkExclusion is S1 and S6, at the instant at which n begins to be trusted.
func (w *World) checkExclusion(n, other *node) {
	what := "is still trusted"
	switch {
	case other.trust.open:
	case w.protected(other):
		what = "still does leader work within its time"
	default:
		return
	}
	switch {
	case w.excused(other.known.state, n.known.state):
		w.Coverage.mark(ExcusedOverlap)
		return
	case w.twins(n, other):
		w.Coverage.mark(TwinOverlap)
		return
	case w.misled(n, other), w.misled(other, n):
		w.Coverage.mark(MisledOverlap)
		return
	}
	w.fail(S1, int(n.index), "term %d of %s begins while node %d %s in term %d of %s", n.trust.token, n.session.name,
		other.index, what, other.work.token, other.session.name)
	if n.cfg.ID == other.cfg.ID {
		w.fail(S6, int(n.index), "nodes %d and %d, both named %q, lead at once", n.index, other.index, n.cfg.ID)
	}
}

// protected reports whether the leader work of a process is still within the time that the lease gives it.
func (w *World) protected(n *node) bool {
	k := &n.work
	if !n.alive || !k.running && !k.handed || n.known.token != k.token {
		return false
	}
	until := n.known.sent.at + w.atLeast(n, leaseSpan(n.cfg))
	if k.hasEnded {
		until = min(until, k.endedAt+w.atLeast(n, n.cfg.Drain))
	}
	return w.now < until
}

// span is how long an attempt that landed is worth.
func span(n *node) time.Duration { return leaseSpan(n.cfg) - n.cfg.Drain }

// ask is somebody asking the candidate whether it leads.
func (w *World) ask(n *node) {
	if !n.running() || !n.on {
		return
	}
	w.settleTrust(n)
	now := n.asked(w.now)
	leads := n.m.State() == protocol.Leading
	answer := n.m.Trusted(now)
	if answer && (!leads || now.Since(n.known.sent.reading) >= span(n)) {
		w.fail(S4, int(n.index), "asked, it says that it leads; its lease is over by its own clock")
	}
	if leads && !answer && n.trust.refused != n.m.Token() {
		n.trust.refused = n.m.Token()
		w.Coverage.mark(RefusedTrust)
		n.deliver(letter{kind: protocol.Distrust, token: n.m.Token()})
	}
}

// checkTrust is S3, S4 and S7 after a step: the machine trusts itself if and only if the newest attempt that it was
// shown to have landed was sent less than the span ago.
func (w *World) checkTrust(n *node, l *letter, now clock.Reading) {
	if n.m.State() != protocol.Leading {
		return
	}
	node, sent := int(n.index), n.known.sent.reading
	if !n.m.Trusted(now) {
		w.fail(S4, node, "after a step it still leads though its lease is over")
	}
	if n.m.Trusted(sent.Add(span(n) + rounding)) {
		w.fail(S3, node, "it trusts itself for longer than the attempt that landed is worth")
	}
	if !w.forked && !n.m.Trusted(sent.Add(span(n)-rounding)) &&
		n.session.attemptsSince(n.known.state.record.Renewals) < remembered {
		w.fail(S7, node, "it was shown that an attempt landed, and does not count from that")
	}
	if l.kind == protocol.Distrust && l.token == n.m.Token() {
		w.fail(S4, node, "trust in term %d returned after it was refused", l.token)
	}
	if st := n.known.state; st != nil && st.record.TTL != n.cfg.TTL {
		w.fail(S9, node, "it leads by a TTL of %v, the store holds %v", n.cfg.TTL, st.record.TTL)
	}
}
