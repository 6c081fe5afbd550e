package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// nextFault has one of the history's faults strike a machine, the store or the record, and schedules the next.
func (w *World) nextFault() {
	if w.phase != chaos {
		return
	}
	r := &w.random
	w.afterDelay(r.between(0, 2*w.plan.FaultEvery), event{kind: evFault})
	f := w.plan.Faults[r.n(len(w.plan.Faults))]
	n := &w.nodes[r.n(len(w.nodes))]
	d := r.scaled(n.cfg.TTL, 0, pick(r, 0.3, 1, 2, 4))
	if w.strike(f, n, d) {
		w.Coverage.fault(f)
		w.mix(uint64(f) + 0xfa0)
		w.logf(int(n.index), "fault", "%v, %v", f, d)
	}
}

// strike lets a fault happen, for d if it lasts; false if it cannot at present.
func (w *World) strike(f Fault, n *node, d time.Duration) bool {
	switch f {
	case ProcessPause, Suspend, VMSnapshot, WallStep, RateChange, Crash:
		w.strikeMachine(f, n, d)
	case ProcessCopied:
		return n.copyTo(&w.nodes[w.random.n(len(w.nodes))])
	case CutRequests, CutReplies, HalfOpen, Partition, WatchSilent, WatchBreaks:
		w.strikeLink(f, n, d)
	case WatchFlaps, WatchRepeats:
		w.strikeWatch(f, n, d)
	case StoreFreeze, StoreAway, Credentials, Throttling:
		w.strikeStore(f, d)
	case Sickness, UserResigns, UserStops:
		return w.strikeUser(f, n, d)
	case Revocation:
		return n.revoke()
	case FailOver, Restore, DeleteByHand:
		return w.strikeHistory(f)
	default:
		return w.operate(f, d)
	}
	return true
}

func (w *World) strikeMachine(f Fault, n *node, d time.Duration) {
	r := &w.random
	switch f {
	case ProcessPause:
		w.pause(n, d)
	case Suspend:
		w.halt(n, pauseMachine, d)
	case VMSnapshot:
		w.halt(n, pauseSnapshot, d)
	case WallStep:
		w.stepWall(n, pick(r, -time.Hour, time.Hour, -r.scaled(n.cfg.TTL, 0, 2), r.scaled(n.cfg.TTL, 0, 2)))
	case RateChange:
		w.plan.drawRates(r, n.plan, n.cfg.ClockError)
		w.changeRates(n, n.plan.Mono, n.plan.Wall, n.plan.Boot)
	case Crash:
		n.crash()
		if r.chance(0.3) {
			w.reconfigure(n)
		}
		n.restartIn(d)
	}
}

// reconfigure gives the next process another TTL and drain.
func (w *World) reconfigure(n *node) {
	id, delay, e := n.cfg.ID, n.cfg.PriorityDelay, n.cfg.ClockError
	c := drawConfig(&w.random, pick(&w.random, ttls[:]...), e, n.cfg.Grain, w.plan.Push)
	if c.CallTimeout < 4*w.plan.OneWayMax || c.Grain > c.TTL/5000 {
		return
	}
	c.ID, c.PriorityDelay = id, delay
	n.cfg = c
	w.Coverage.mark(Reconfigured)
}

// pause stops the process; its clocks run on.
func (w *World) pause(n *node, d time.Duration) { w.halt(n, pauseProcess, d) }

// halt stops the process, and what kind says of the machine's clocks.
func (w *World) halt(n *node, kind pauseKind, d time.Duration) {
	w.settleTrust(n)
	n.paused[kind]++
	n.setClocks()
	w.settleTrust(n)
	w.afterDelay(d, event{kind: evResume, node: n.index, arg: int32(kind), gen: w.gen})
	w.log.bar(interval{node: int(n.index), lane: lanePause, value: uint64(kind), from: w.now, to: w.now + d})
}

// stepWall sets the wall clock.
func (w *World) stepWall(n *node, by time.Duration) {
	w.settleTrust(n)
	n.clocks.rebase(w.now)
	n.clocks.base.Wall += by
	w.settleTrust(n)
}

// changeRates changes the errors of the machine's clocks.
func (w *World) changeRates(n *node, mono, wall, boot int64) {
	w.settleTrust(n)
	n.clocks.rebase(w.now)
	n.clocks.mono, n.clocks.wall, n.clocks.boot = mono, wall, boot
	if n.alive {
		n.timerSet = false
		n.arm()
	}
}

func (w *World) strikeLink(f Fault, n *node, d time.Duration) {
	switch f {
	case CutRequests:
		n.link.requests++
	case CutReplies:
		n.link.replies++
	case HalfOpen:
		n.link.requests++
		n.link.replies++
	case Partition:
		n.link.requests++
		n.link.replies++
		n.interrupt()
	case WatchSilent:
		n.sub.silent = n.sub.live
		return
	case WatchBreaks:
		n.interrupt()
		return
	}
	w.untilHealed(f, n, d)
	w.log.bar(interval{node: int(n.index), lane: laneLink, value: uint64(f), from: w.now, to: w.now + d})
}

// untilHealed ends a fault after d.
func (w *World) untilHealed(f Fault, n *node, d time.Duration) {
	var index int8
	if n != nil {
		index = n.index
	}
	w.afterDelay(d, event{kind: evHealed, arg: int32(f), node: index, gen: w.gen})
}

func (w *World) strikeStore(f Fault, d time.Duration) {
	s := &w.store
	switch f {
	case StoreFreeze:
		s.frozen++
	case StoreAway:
		s.away++
	case Credentials:
		s.credentials++
	case Throttling:
		s.throttling++
	}
	w.untilHealed(f, nil, d)
	w.log.bar(interval{node: -1, lane: laneStore, from: w.now, to: w.now + d, text: f.String()})
}

// healed ends a fault that lasted.
func (w *World) healed(f Fault, n *node, gen uint32) {
	if gen != w.gen {
		return
	}
	s := &w.store
	switch f {
	case CutRequests:
		n.link.requests--
	case CutReplies:
		n.link.replies--
	case HalfOpen, Partition:
		n.link.requests--
		n.link.replies--
	case StoreFreeze:
		if s.frozen--; s.frozen == 0 {
			w.thaw()
		}
	case StoreAway:
		s.away--
	case Credentials:
		s.credentials--
	case Throttling:
		s.throttling--
	case Sickness:
		n.deliver(letter{kind: protocol.Healthy})
	case PauseElection:
		w.resumeElection()
	}
}

func (w *World) strikeUser(f Fault, n *node, d time.Duration) bool {
	if !n.on {
		return false
	}
	switch f {
	case Sickness:
		if !n.cfg.HealthChecked {
			return false
		}
		n.deliver(letter{kind: protocol.Unhealthy})
		w.untilHealed(f, n, d)
	case UserResigns:
		to := ""
		if w.random.chance(0.5) {
			to = nodeIDs[w.random.n(len(w.nodes))]
		}
		n.deliver(letter{kind: protocol.Resign, to: to})
	case UserStops:
		n.stop()
	}
	return true
}

// strikeHistory has the store lose writes that it had acknowledged.
func (w *World) strikeHistory(f Fault) bool {
	s, r := &w.store, &w.random
	if f == DeleteByHand {
		if !s.current.exists {
			return false
		}
		w.forked = true
		s.remove(byDeletion)
		return true
	}
	steps := 1 + r.n(3)
	if f == Restore {
		steps = 1 + r.n(30)
	}
	to := s.current
	for ; steps > 0 && to.parent != nil; steps-- {
		to = to.parent
	}
	if to == s.current {
		return false
	}
	w.forked = true
	s.goBack(to)
	return true
}

// strikeWatch has a watch say the same ten times within d: that it was interrupted, or what the store held some time
// ago.
func (w *World) strikeWatch(f Fault, n *node, d time.Duration) {
	past := w.store.stale(w.random.scaled(n.cfg.TTL, 0, 2))
	for i := range 10 {
		e := event{kind: evWatchLost, node: n.index, gen: n.sub.gen}
		if f == WatchRepeats {
			e.kind, e.arg, e.flag = evPush, past.index, w.store.abandoned(past)
		}
		w.afterDelay(d*time.Duration(i)/10, e)
	}
}
