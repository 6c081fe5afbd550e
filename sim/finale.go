package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Finale is the one thing that happens at the end of a random history, when all is at rest, and what must follow.
type Finale uint8

// The finales.
const (
	NothingMore       Finale = iota
	LeaderResigns            // L1
	LeaderStops              // L1
	LeaderCrashes            // L2
	CrashAndRequests         // L2, while an operator keeps adding requests to the record of the dead
	LastOneStands            // L2, when all but one have crashed
	LostRenewal              // L3
	ShortOutage              // L3
	StaleLook                // L3: a leader that has to look reads an old state
	LongOutage               // L4
	PauseAndResume           // L1
	Transfer                 // L1, and to whom it was asked
	LeaderSick               // L1
	LoneLeaderResigns        // L4: nobody else is there to follow
	RefusedRenewal           // L3: the store refuses one, and asks for a long pause
	LaggingReads             // L3: reads lag behind while an operator touches the record
	StopInOutage             // L4: everybody is stopped while the store is away
	numFinales
)

var finaleNames = [numFinales]string{
	"nothing more", "leader resigns", "leader stops", "leader crashes", "leader crashes, requests follow",
	"all but one crash", "a renewal is lost", "store away for less than the lease", "a stale look",
	"store away for longer than the lease", "election paused and resumed", "transfer", "leader is unhealthy",
	"the only one resigns", "a renewal is refused", "reads lag behind", "all are stopped while the store is away",
}

// String names the finale.
func (f Finale) String() string { return finaleNames[f] }

// The steps of finales.
const (
	stepSettle = iota
	stepRequest
	stepReturn
	stepResume
	stepTouch
)

func (w *World) beginFinale() {
	l := &w.liveness
	for i := range w.nodes {
		w.nodes[i].rejections, w.nodes[i].requests = 0, 0
	}
	l.accepts, l.releases, l.vacated = 0, 0, -1
	f := w.plan.Finale
	w.Coverage.finale(f)
	w.logf(-1, "finale", "%v", f)
	leader := l.leader
	switch f {
	case NothingMore:
		w.leave()
	case LeaderResigns:
		w.await(leader, "")
		leader.deliver(letter{kind: protocol.Resign})
	case LeaderStops:
		w.await(leader, "")
		leader.stop()
	case LeaderSick:
		if !leader.cfg.HealthChecked {
			w.leave()
			return
		}
		w.await(leader, "")
		leader.deliver(letter{kind: protocol.Unhealthy})
	case LeaderCrashes, CrashAndRequests:
		w.await(leader, "")
		leader.crash()
		w.afterDelay(leader.cfg.TTL/3, event{kind: evFinale, arg: stepRequest})
	case LastOneStands:
		w.crashAllButOne()
	case LoneLeaderResigns:
		w.resignAlone()
	case Transfer:
		w.askTransfer()
	case PauseAndResume:
		w.store.operate(func(r *protocol.Record) { r.Paused = true })
		w.enter(finale, w.trueTime(5*w.longest()))
		w.afterDelay(w.trueTime(2*w.longest()), event{kind: evFinale, arg: stepResume})
	default:
		w.disturb(f)
	}
}

// finaleStep is a later part of what happens.
func (w *World) finaleStep(step int) {
	l := &w.liveness
	switch step {
	case stepSettle:
		w.settleIfLed()
	case stepRequest:
		w.requestWhileWaiting()
	case stepReturn:
		w.thawAll()
		if w.plan.Finale == LongOutage {
			w.await(nil, "")
			l.rule, l.deadline = L4, w.now+w.healBound()
		}
	case stepTouch:
		if w.phase == finale && w.askLeader(AskWrongTerm) && w.plan.Finale == StaleLook {
			w.liveness.leader.staleNext = 1
		}
	case stepResume:
		for i := range w.nodes {
			if w.settleTrust(&w.nodes[i]); w.nodes[i].trust.open {
				w.fail(Requests, i, "it leads while the election is paused")
			}
		}
		w.await(nil, "")
		l.vacated = w.now
		for i := range w.nodes {
			w.nodes[i].rejections = 0 // by the operator's own writes
		}
		w.resumeElection()
	}
}

// requestWhileWaiting adds requests to the record of the dead leader for as long as its lease is counted, which they
// must not begin anew. After that they would only compete with the bids: whoever writes all the time starves everybody.
func (w *World) requestWhileWaiting() {
	l := &w.liveness
	ttl := l.leader.cfg.TTL
	if w.plan.Finale != CrashAndRequests || w.phase != finale || w.now > l.awaited+ttl*8/10 {
		return
	}
	w.askLeader(AskWrongTerm)
	w.afterDelay(ttl/3, event{kind: evFinale, arg: stepRequest})
}

// settleIfLed ends the healing if somebody leads by now; otherwise the next one who does will.
func (w *World) settleIfLed() {
	if w.phase != healing {
		return
	}
	for i := range w.nodes {
		if w.settleTrust(&w.nodes[i]); w.nodes[i].trust.open {
			w.settle(&w.nodes[i])
			return
		}
	}
}

// await begins to wait for a new leader: L1 from the moment the seat is vacant, L2 if it never is.
func (w *World) await(old *node, successor string) {
	l := &w.liveness
	l.waiting, l.successor, l.rule = true, successor, L2
	l.bound = w.vacancyBound(old, successor)
	silent := w.longest()
	switch {
	case old != nil && old.alive:
		silent += old.cfg.Drain
	case old != nil && w.plan.Vouch && !w.forked:
		silent = w.roundTrips(1) // a renewal of the dead may still be on its way
	}
	l.deadline = w.now + w.trueTime(silent) + l.bound
	if w.plan.Finale == CrashAndRequests {
		l.deadline += w.roundTrips(1) // a request may land just before the bid
	}
	if w.forked {
		l.deadline += w.trueTime(2 * w.longest() / 3) // two conflicts on the way to what the store went back to
	}
	l.awaited = w.now
	if w.phase != finale {
		w.enter(finale, l.deadline-w.now+w.trueTime(w.longest()))
	}
}

// vacancyBound is L1: two round trips, what the quickest candidate is told to leave to others, and without push the
// time until it looks, with the round trip that looking takes.
func (w *World) vacancyBound(old *node, successor string) time.Duration {
	best := time.Duration(-1)
	for i := range w.nodes {
		n := &w.nodes[i]
		if n == old || !n.alive || successor != "" && n.cfg.ID != successor {
			continue
		}
		var d time.Duration
		if wait := n.cfg.PriorityDelay + n.cfg.BidSpread; successor == "" && wait > 0 {
			d = w.trueTime(wait) + w.roundTrips(1) // a look may be under way when the wait is over
		}
		if w.pushes() {
			d += w.roundTrips(3) / 2 // a look may be under way when the push comes, and show what was before
		} else {
			d += w.trueTime(n.cfg.PollEvery) + w.roundTrips(1)
		}
		if best < 0 || d < best {
			best = d
		}
	}
	return best + w.roundTrips(2)
}

// followed is the begin of the term that was waited for.
func (w *World) followed(n *node) {
	l := &w.liveness
	if l.vacated >= 0 && !w.forked {
		w.within(L1, n, w.now-l.vacated, l.bound)
	} else {
		w.within(l.rule, n, w.now-l.awaited, l.deadline-l.awaited)
	}
	if l.successor != "" && !w.forked && n.cfg.ID != l.successor {
		w.fail(Reserve, int(n.index), "the seat was kept for %q", l.successor)
	}
	w.checkHerd()
	w.afterDelay(w.roundTrips(2), event{kind: evPhase, gen: uint32(finale)})
}

// within checks a bound, and notes how close to it the worst case came.
func (w *World) within(r Rule, n *node, took, bound time.Duration) {
	if r != L4 {
		w.Coverage.share(r, float64(took)/float64(bound))
	}
	if took > bound {
		w.fail(r, int(n.index), "term %d begins after %v, the bound is %v", n.trust.token, took, bound)
	}
}

// checkHerd is L5 of a change of leader: one bid is accepted, one release, and nobody is rejected twice.
func (w *World) checkHerd() {
	l := &w.liveness
	if w.plan.Finale == CrashAndRequests || w.plan.Finale == LongOutage {
		return
	}
	if l.accepts > 1 || l.releases > 1 {
		w.fail(L5, -1, "a change of leader takes %d bids and %d releases", l.accepts, l.releases)
	}
	allowed := 1
	if w.plan.Vouch || w.plan.Finale == Transfer {
		allowed = 2 // the last write of the dead, or the operator's, came between
	}
	for i := range w.nodes {
		if n := &w.nodes[i]; n.rejections > allowed {
			w.fail(L5, i, "%d of its requests are rejected in one change of leader", n.rejections)
		}
	}
}

// finaleOver is the end of the time that a finale has.
func (w *World) finaleOver() {
	l := &w.liveness
	if l.waiting {
		w.fail(l.rule, -1, "nobody follows within %v", w.now-l.awaited)
	}
	if l.counting {
		w.settleTrust(l.leader)
		if !l.leader.trust.open || l.leader.trust.token != l.token {
			w.fail(L3, int(l.leader.index), "term %d has ended", l.token)
		}
	}
	w.checkQuiet()
	if w.plan.Finale == StopInOutage {
		w.checkStopped()
		w.thawAll()
	}
	w.leave()
}

// stopInOutage stops everybody while the store does not answer: drain and release have bounds of their own.
func (w *World) stopInOutage() {
	w.store.frozen++
	var bound time.Duration
	for i := range w.nodes {
		n := &w.nodes[i]
		bound = max(bound, n.cfg.Drain+n.cfg.TTL/2+2*n.cfg.CallTimeout+n.cfg.TTL/20)
		n.stop()
	}
	w.enter(finale, w.trueTime(bound)+w.roundTrips(1))
}

// checkQuiet is L5 of those who stood by while the seat was handed over: their watch told them how it ended, so that
// none had to ask for more than the seat itself.
func (w *World) checkQuiet() {
	switch w.plan.Finale {
	case LeaderResigns, LeaderStops, LeaderSick:
	default:
		return
	}
	l := &w.liveness
	for i := range w.nodes {
		n := &w.nodes[i]
		if w.pushes() && !w.forked && n != l.leader && !n.trust.open && n.requests > 1 && l.vacated >= 0 {
			w.fail(L5, i, "it stood by while the leader changed, and sent %d requests", n.requests)
		}
	}
}

func (w *World) crashAllButOne() {
	l := &w.liveness
	at := w.random.n(len(w.nodes) - 1)
	if int(l.leader.index) <= at {
		at++
	}
	last := &w.nodes[at]
	for i := range w.nodes {
		if n := &w.nodes[i]; n != last {
			n.crash()
		}
	}
	w.await(l.leader, "")
}

// resignAlone has the leader resign when no other process is left. It leaves the seat to others for a lease.
func (w *World) resignAlone() {
	l := &w.liveness
	for i := range w.nodes {
		if n := &w.nodes[i]; n != l.leader {
			n.crash()
		}
	}
	w.await(nil, "")
	c := &l.leader.cfg
	l.rule, l.deadline = L4, w.now+w.trueTime(c.TTL+2*c.Drain+c.TTL/20)+l.bound
	l.leader.deliver(letter{kind: protocol.Resign})
}

func (w *World) askTransfer() {
	l := &w.liveness
	to := &w.nodes[w.random.n(len(w.nodes))]
	if to.cfg.ID == l.leader.cfg.ID {
		w.leave()
		return
	}
	w.await(l.leader, to.cfg.ID)
	l.deadline += w.trueTime(l.leader.cfg.RenewEvery)
	w.store.operate(func(r *protocol.Record) {
		r.Request = protocol.Request{Token: r.Token, To: to.cfg.ID}
	})
}

// disturb does what must change nothing (L3), or takes the store away for long.
func (w *World) disturb(f Finale) {
	l := &w.liveness
	c := &l.leader.cfg
	k := &l.leader.clocks
	agree := k.mono == k.wall && (k.noBoot || k.mono == k.boot) // otherwise the lease shrinks by what they differ
	away := span(l.leader) - c.RenewEvery - c.CallTimeout - c.TTL/10 - 2*(w.trueTime(c.TTL)-c.TTL) - w.roundTrips(4)
	switch {
	case f == StopInOutage:
		w.stopInOutage()
		return
	case f == LongOutage:
		w.store.frozen++
		d := w.trueTime(w.longest() * 3 / 2)
		w.enter(finale, d+2*w.healBound())
		w.afterDelay(d, event{kind: evFinale, arg: stepReturn})
		return
	case (f == LostRenewal || f == RefusedRenewal) && !agree,
		f != LostRenewal && f != RefusedRenewal && (c.MaxFailures > 0 || away <= 0),
		f == LaggingReads && away <= c.Backoff.Initial+w.roundTrips(4):
		w.leave()
		return
	case f == LostRenewal && w.random.chance(0.5) && w.roundTrips(2) <= c.CallTimeout:
		// A reply that is lost costs a conflict and a look besides: the lease has room for both if a call has time for
		// two round trips.
		l.leader.muteNext = 1
	case f == LostRenewal:
		l.leader.loseNext = 1
	case f == ShortOutage:
		w.store.frozen++
		w.afterDelay(w.random.scaled(away, 0.5, 0.99), event{kind: evFinale, arg: stepReturn})
	case f == StaleLook:
		w.askLeader(AskWrongTerm)
		l.leader.staleNext = 1
		if w.random.chance(0.5) { // and another, separate one
			w.afterDelay(c.TTL, event{kind: evFinale, arg: stepTouch})
		}
	case f == RefusedRenewal:
		l.leader.refuseNext = 1
	case f == LaggingReads:
		l.leader.lag = c.TTL / 10
		for i := range 3 {
			w.afterDelay(c.TTL*time.Duration(i), event{kind: evFinale, arg: stepTouch})
		}
	}
	l.counting = true
	w.enter(finale, w.trueTime(3*w.longest()))
}
