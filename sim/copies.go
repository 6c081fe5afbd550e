package sim

import (
	"slices"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// copyTo lets a copy of the process of n run on the machine of t, in place of what ran there, as a snapshot does that
// is restored while its original lives. The copy has the same memory and, at first, the same time; it has none of the
// original's connections, so that the call in flight is answered to the original alone.
func (n *node) copyTo(t *node) bool {
	w := n.w
	if n == t || !n.running() || !n.on || n.sendHeld || n.stepping || t.stepping {
		return false
	}
	w.settleTrust(n)
	t.crash()
	t.clocks = n.clocks
	t.clocks.rebase(w.now)
	t.setClocks()
	t.takeMemory(n)
	t.session = w.copySession(n.session, t)
	w.logf(int(t.index), "copy", "of the process of node %d, session %s", n.index, n.session.name)
	if n.call >= 0 {
		t.inbox = append(t.inbox, letter{kind: replyKind(&w.calls[n.call]), outcome: protocol.Unknown})
	}
	t.goOn()
	w.settleTrust(t)
	w.afterDelay(w.copyTime(), event{kind: evCopiesOver})
	return true
}

// takeMemory gives n what another process knows, and the referee what it knows of that.
func (n *node) takeMemory(from *node) {
	w := n.w
	n.cfg, n.m = from.cfg, from.m.Clone(&w.random, &w.random)
	n.alive, n.on, n.booting = true, true, false
	n.inbox = append(n.inbox[:0], from.inbox...)
	n.call, n.awaits = -1, from.awaits
	n.known, n.healthy, n.standsSince, n.aim = from.known, from.healthy, from.standsSince, from.aim
	n.quietUntil, n.failures, n.failedAt = from.quietUntil, from.failures, from.failedAt
	n.disproved, n.insisted, n.bids, n.led = from.disproved, from.insisted, from.bids, from.led
	n.resigned, n.resignedAt, n.stopping = from.resigned, from.resignedAt, from.stopping
	n.leaving, n.hasLeaving = from.leaving, from.hasLeaving
	gen := n.work.gen
	n.work = from.work
	n.work.gen = gen + 1
	w.log.end(n.index, laneDown, w.now)
}

// goOn lets the copy run: its work, its timer, and a watch of its own.
func (n *node) goOn() {
	k := &n.work
	switch {
	case k.running && k.hasEnded, k.running && k.style == Brief:
		n.windDown()
	case k.handed && k.hasEnded && k.style == HandedEnd:
		n.w.afterDelay(n.w.random.scaled(n.cfg.Drain, 0, 1.2), event{kind: evHandedEnd, node: n.index, gen: k.gen})
	}
	if n.cfg.Watch && n.aim != protocol.Try {
		n.inbox = append(n.inbox, letter{kind: protocol.WatchLost})
		n.subscribe()
	}
	n.timerSet = false
	n.pump()
	n.arm()
}

// copySession is what a copy remembers of being shown, under the same name.
func (w *World) copySession(s *session, t *node) *session {
	c := w.newSession(t)
	index, seen, numbers := c.index, c.seen, c.numbers
	*c = *s
	c.index, c.node, c.dead, c.origin, c.copiedAt = index, t, false, s, w.now
	seen = append(seen[:0], s.seen...)
	numbers = append(numbers[:0], s.numbers...)
	c.seen, c.numbers = seen, numbers
	s.copied, c.copied = true, true
	return c
}

// renamed follows a process that has found out that it runs twice: it has another session from now on.
func (n *node) renamed() {
	s := n.session
	const remembered = 100
	if !s.copied && s.attemptsSince(n.letter.state.record.Renewals) < remembered {
		n.w.fail(S7, int(n.index), "it takes a record of its own session %s for that of a copy; there is none", s.name)
	}
	s.name = n.m.Session()
	n.cfg.Session, s.cfg.Session = s.name, s.name
	n.w.logf(int(n.index), "renamed", "session %s", s.name)
}

// copyTime is for how long after a copy was made the original and the copy may both be trusted: neither can know,
// before it has written, that the other lives.
func (w *World) copyTime() time.Duration {
	var d time.Duration
	for _, s := range w.sessions {
		d = max(d, s.cfg.TTL)
	}
	return d
}

// twins reports whether two leaderships may overlap because a process was copied not long ago: they, or what they took
// the seat from, have or had one session.
func (w *World) twins(a, b *node) bool {
	return slices.ContainsFunc(w.sessions, func(s *session) bool {
		return s.origin != nil && w.now < s.copiedAt+w.copyTime() &&
			(a.session.kin(s) || b.session.kin(s))
	})
}

// copiesOver is the end of the time that copies have: from here on at most one is trusted.
func (w *World) copiesOver() {
	for i := range w.nodes {
		w.settleTrust(&w.nodes[i])
	}
	for i := range w.nodes {
		for j := range w.nodes[:i] {
			if a, b := &w.nodes[i], &w.nodes[j]; a.trust.open && b.trust.open {
				w.checkExclusion(a, b)
			}
		}
	}
}
