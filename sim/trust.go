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
	token uint64
	node  *node
	state *state // of its bid
}

// settleTrust follows the trust in a process up to now. It has to be called before and after everything that changes
// a machine or its clocks; in between the clocks are linear and trust only ends.
func (w *World) settleTrust(n *node) {
	t := &n.trust
	trusted := n.alive && subject(n.m).Trusted(n.asked(w.now))
	switch {
	case t.open && !trusted:
		w.closeTrust(n, w.trustEnd(n, t.seen))
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
	if n.running() && n.m.State() == protocol.Leading {
		w.afterDelay(w.noticeTime(n), event{
			kind: evMustEnd, node: n.index, arg: int32(n.session.index), gen: uint32(n.trust.token),
		})
	}
	w.log.end(n.index, laneTrust, at)
	w.mix(uint64(at))
}

// noticeTime is how long it takes a process that runs to notice that its trust is over.
func (w *World) noticeTime(n *node) time.Duration {
	return w.trueTime(n.cfg.TTL/20) + 2*(w.plan.TimerLag+w.plan.MailboxLag)
}

// mustEnd is S4 for those who do not ask: soon after trust is over their context has ended too.
func (w *World) mustEnd(n *node, session int, token uint32) {
	w.settleTrust(n)
	if n.running() && n.session.index == session && n.m.Token() == uint64(token) && n.m.State() == protocol.Leading &&
		!n.m.Trusted(n.read()) && w.now >= max(n.trust.closed, n.runsSince)+w.noticeTime(n) {
		w.fail(S4, int(n.index), "trust in term %d has long been over, and its work was not told", n.m.Token())
	}
}

// mustOverrun is the end of S8: work that does not return within its drain is reported, and the seat left to others.
func (w *World) mustOverrun(n *node, gen uint32) {
	k := &n.work
	if n.running() && k.gen == gen && k.running && n.m.State() == protocol.Draining &&
		k.reported >= 0 && n.read().Mono-k.ended.Mono >= n.cfg.Drain &&
		w.now >= max(k.reported, n.runsSince)+w.noticeTime(n) {
		w.fail(S8, int(n.index), "work of term %d has outlived its drain, and the seat is still held for it", k.token)
	}
}

// openTrust begins an interval of trust. Two overlap if the other one stands when the later begins.
func (w *World) openTrust(n *node) {
	n.trust.open, n.trust.token = true, n.m.Token()
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
	if w.excused(other.known.state, n.known.state) {
		w.Coverage.mark(ExcusedOverlap)
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
	r := n.read()
	return r.Since(n.known.sent.reading) < leaseSpan(n.cfg) && !(k.hasEnded && r.Since(k.ended) >= n.cfg.Drain)
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
	const rounding = 2
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
