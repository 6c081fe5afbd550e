package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// phase is a part of a random history. Safety is checked in all of them, liveness in those without faults.
type phase uint8

const (
	chaos    phase = iota // faults strike
	healing               // all faults have ended: somebody has to lead again, with no help
	settling              // somebody leads: everybody has to come to rest
	steady                // nothing may change, and little may be asked
	finale                // one thing happens, and has to be followed in time
	stopping              // everybody leaves
)

var phaseNames = [...]string{"chaos", "healing", "settling", "steady", "finale", "stopping"}

// liveness is what the referee follows to judge L1 to L5.
type liveness struct {
	began    time.Duration // of the phase
	settleAt time.Duration // from when on a leader counts as the one after the faults
	leader   *node
	token    uint64
	counting bool // requests, rejections and changes of leader
	accepts  int  // bids
	releases int

	waiting   bool          // for a new leader
	awaited   time.Duration // since when
	rule      Rule          // that sets the deadline
	deadline  time.Duration
	vacated   time.Duration // when the seat was released, -1 while it was not
	bound     time.Duration // of L1, from that on
	successor string        // the ID that has to lead, empty if any
}

// enter begins a phase that lasts for d at most.
func (w *World) enter(p phase, d time.Duration) {
	w.logf(-1, "phase", "%v, for %v", phaseNames[p], d)
	w.phase = p
	w.log.begin(-1, lanePhase, 0, w.now, phaseNames[p])
	w.liveness.began = w.now
	w.afterDelay(d, event{kind: evPhase, gen: uint32(p)})
}

// phaseOver is the end of the time that a phase has.
func (w *World) phaseOver(p phase) {
	if p != w.phase {
		return
	}
	switch p {
	case chaos:
		w.heal()
	case healing:
		w.fail(L4, -1, "nobody leads %v after all faults have healed", w.now-w.liveness.began)
		w.leave()
	case settling:
		w.rest()
	case steady:
		w.checkRest()
		w.beginFinale()
	case finale:
		w.finaleOver()
	case stopping:
		w.checkStopped()
		w.over = true
	}
}

// longest is the longest TTL that may count anywhere.
func (w *World) longest() time.Duration {
	d := w.plan.longest()
	for _, s := range w.sessions {
		d = max(d, s.cfg.TTL, s.longest)
	}
	return max(d, min(w.store.current.record.TTL, maxTTL))
}

// shortest is the shortest TTL that a candidate may take for that of the record.
func (w *World) shortest() time.Duration {
	return w.liveness.leader.cfg.TTL
}

// trueTime is how long a wait for d by the slowest clock can take, with the margin of a follower.
func (w *World) trueTime(d time.Duration) time.Duration {
	var e float64
	var grain time.Duration
	for i := range w.nodes {
		e, grain = max(e, w.nodes[i].cfg.ClockError), max(grain, w.nodes[i].cfg.Grain)
	}
	return time.Duration(float64(d)*(1+e)/(1-e)) + 3*grain + 1
}

func (w *World) roundTrips(n int) time.Duration { return time.Duration(2*n) * (w.plan.OneWayMax + 1) }

// heal ends all faults: connections, clocks and the store work, processes run, work returns, everybody stands.
func (w *World) heal() {
	waitsForADay := w.longest() > time.Minute || w.edited && w.plan.Absurd // such a TTL may be on its way to somebody
	if w.plan.Kind != Mix || w.plan.Token > protocol.MaxToken/2 || w.plan.TTLUnit > 0 || waitsForADay {
		// Safety is all that can be asked for, or tokens run out, or somebody bids who cannot lead.
		w.over = true
		return
	}
	w.gen++
	w.enter(healing, w.healBound())
	w.liveness.settleAt = w.now + w.trueTime(w.longest())
	w.thawAll()
	w.hasten()
	w.resumeElection()
	for i := range w.nodes {
		w.nodes[i].heal()
	}
	w.queue.push(event{at: w.liveness.settleAt, kind: evFinale, arg: stepSettle})
}

func (w *World) thawAll() {
	s := &w.store
	s.away, s.credentials, s.throttling, s.frozen = 0, 0, 0, 0
	w.thaw()
}

// hasten lets what is late on the network arrive now.
func (w *World) hasten() {
	late := w.now + w.plan.OneWayMax
	old := append([]event(nil), w.queue.heap...)
	w.queue.heap = w.queue.heap[:0]
	for _, e := range old {
		switch e.kind {
		case evArrive, evReply, evPush:
			if e.at > late {
				e.at = w.now + w.oneWay()
			}
		}
		w.queue.push(e)
	}
}

func (n *node) heal() {
	w := n.w
	w.settleTrust(n)
	n.link, n.paused = link{}, [numPauses]int{}
	n.setClocks()
	n.booting = false
	if !n.alive {
		n.boot()
	}
	if n.cfg.HealthChecked && n.on {
		n.deliver(letter{kind: protocol.Healthy})
	}
	if w.plan.BrokenWatch && n.sub.wanted {
		n.subscribe()
	} else if n.sub.wanted && !n.sub.live {
		n.subscribe()
	}
	n.healWork()
	n.runsSince = w.now
	n.sendAnyway()
	w.settleTrust(n)
	n.timerSet = false
	n.pump()
	n.arm()
	w.afterDelay(w.oneWay(), event{kind: evStart, node: n.index})
}

// healWork lets work return that was told to, and keeps the rest until it is.
func (n *node) healWork() {
	k := &n.work
	k.gen++
	k.late = false
	if k.running && k.hasEnded {
		n.workIn(0)
	}
	if k.running {
		k.style = Obedient
	}
}

// healBound is L4. Whoever relied on a silent watch notices after a lease without a word, and then may have to count a
// whole lease of what it finds; the pause of a back-off that began before the faults healed runs at the same time.
func (w *World) healBound() time.Duration {
	var extra time.Duration
	for i := range w.nodes {
		c := &w.nodes[i].cfg
		extra = max(extra, 2*c.CallTimeout+c.PollEvery+c.PriorityDelay+c.BidSpread+c.Backoff.Max)
	}
	return w.trueTime(2*w.longest()+extra) + w.roundTrips(4)
}

// led is told that somebody begins to be trusted.
func (w *World) led(n *node) {
	l := &w.liveness
	w.logf(int(n.index), "leads", "term %d", n.trust.token)
	switch {
	case w.phase == healing && w.now >= l.settleAt:
		w.settle(n)
	case l.waiting:
		l.waiting = false
		w.followed(n)
	case l.counting:
		w.fail(L3, int(n.index), "term %d begins though nothing happened", n.trust.token)
	}
}

// settle begins when somebody leads and whatever began before the faults healed is over.
func (w *World) settle(leader *node) {
	if w.longest() > time.Minute {
		w.over = true // somebody was shown such a TTL late, and nothing can be asked for within reason
		return
	}
	l := &w.liveness
	l.leader, l.token, l.counting = leader, leader.trust.token, true
	w.Coverage.share(L4, float64(w.now-l.began)/float64(w.healBound()))
	w.enter(settling, w.trueTime(w.longest()))
}

// rest begins the count of what candidates ask of the store while nothing happens.
func (w *World) rest() {
	for i := range w.nodes {
		n := &w.nodes[i]
		n.requests, n.rejections = 0, 0
	}
	w.enter(steady, w.trueTime(w.longest()))
}

// checkRest is L3, L4 and L5 of an election in which nothing has happened for a lease.
func (w *World) checkRest() {
	l := &w.liveness
	l.counting = false
	w.settleTrust(l.leader)
	if !l.leader.trust.open || l.leader.trust.token != l.token {
		w.fail(L3, int(l.leader.index), "term %d has ended though nothing happened", l.token)
	}
	for i := range w.nodes {
		w.checkRestOf(&w.nodes[i], w.now-l.began)
	}
}

func (w *World) checkRestOf(n *node, passed time.Duration) {
	allowed := 0
	switch n.m.State() {
	case protocol.Leading:
		allowed = most(passed, n.cfg.RenewEvery, n.cfg.ClockError)
	case protocol.Standing:
		if !n.cfg.Watch || w.watchIsBroken() {
			allowed = most(passed, min(n.cfg.PollEvery, w.shortest()*2/3), n.cfg.ClockError)
		} else if n.sub.silent {
			w.fail(L4, int(n.index), "its watch is silent, and it has not noticed for a lease")
		}
	default:
		w.fail(L4, int(n.index), "it does not stand a lease after all faults have healed: %v", n.m.State())
	}
	if w.forked {
		allowed += 3 // it may still find out that what it knew is gone
	}
	if n.rejections > 0 && !w.forked {
		w.fail(L5, int(n.index), "as a %v it has %d writes rejected while nothing happens", n.m.State(), n.rejections)
	}
	if n.requests > allowed {
		w.fail(L5, int(n.index), "as a %v it sent %d requests in %v, allowed are %d",
			n.m.State(), n.requests, passed, allowed)
	}
}

// most is how often something comes in d that comes every interval, which may be shorter by a tenth.
func most(d, interval time.Duration, e float64) int {
	return int(float64(d)*(1+e)/(0.9*float64(interval))) + 1
}

// accepted and rejected count what the store does with the writes of candidates.
func (w *World) accepted(c *call, st *state) {
	l := &w.liveness
	switch c.purpose {
	case protocol.Bid:
		l.accepts++
	case protocol.Release:
		l.releases++
		if l.waiting && l.rule == L2 && l.vacated < 0 && st.vacant() {
			l.vacated = w.now
		}
	}
}

func (w *World) rejected(c *call) { c.node.rejections++ }

// leave has everybody stop, in good order.
func (w *World) leave() {
	l := &w.liveness
	l.counting, l.waiting = false, false
	w.phase = stopping
	var d time.Duration
	for i := range w.nodes {
		n := &w.nodes[i]
		d = max(d, n.cfg.Drain+n.cfg.TTL/2+2*n.cfg.CallTimeout)
		n.stop()
	}
	w.enter(stopping, w.trueTime(d)+w.roundTrips(4))
}

// checkStopped checks that everybody has left, and given back what it held.
func (w *World) checkStopped() {
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.alive && n.on {
			w.fail(L4, int(n.index), "it was stopped and is still %v", n.m.State())
		}
	}
	cur := w.store.current
	if cur.owner == nil || cur.owner.dead || !cur.owner.cfg.Release ||
		w.plan.Finale == StopInOutage {
		return
	}
	w.fail(L1, int(cur.owner.node.index), "it was stopped and has not released its seat")
}

// restartsCandidates reports whether users start their candidates again.
func (w *World) restartsCandidates() bool { return w.phase != stopping }
