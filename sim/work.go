package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// work is the leader work of a process: of its newest term, and perhaps of one before that was overrun.
type work struct {
	style   Style
	token   uint64
	running bool // a function has not returned
	handed  bool // somebody was told that it leads, and has not said that it is done
	gen     uint32

	hasEnded bool
	endedAt  time.Duration // when the work was told to stop, in true time
	reported time.Duration // when the machine learned what remained of it, -1 while it has not
	passed   bool          // the drain was over; a clock that is set back later changes nothing about that
	late     bool          // it would have returned while the process did not run
	lateKind eventKind
}

func (k *work) end() { k.running, k.handed = false, false }

// elected starts the work of a term.
func (n *node) elected(e *protocol.Effect) {
	style := Obedient
	if list := n.plan.Styles; len(list) > 0 {
		style = list[n.w.random.n(len(list))]
	}
	if n.w.phase != chaos && style != Handed && style != HandedEnd {
		style = pick(&n.w.random, Obedient, Prompt)
	}
	n.w.Coverage.style(style)
	k := &n.work
	k.gen++
	k.style, k.token, k.hasEnded, k.passed, k.late = style, e.Token, false, false, false
	k.handed = style == Handed || style == HandedEnd
	k.running = !k.handed
	n.w.log.begin(n.index, laneWork, e.Token, n.w.now, "")
	if style == Brief && n.w.phase == chaos {
		n.workIn(n.w.random.scaled(n.cfg.TTL, 0, 2))
	}
}

func (n *node) workIn(d time.Duration) {
	n.w.afterDelay(d, event{kind: evWork, node: n.index, gen: n.work.gen})
}

// ended tells the work to stop, and reports what remains of it.
func (n *node) ended() {
	k := &n.work
	k.endedAt, k.hasEnded, k.reported = n.w.now, true, -1
	switch {
	case k.running:
		n.windDown()
		n.w.afterDelay(n.w.trueTime(2*n.cfg.Drain+n.cfg.TTL)+n.w.noticeTime(n), // the report may wait behind others
			event{kind: evMustOverrun, node: n.index, gen: k.gen})
	case k.handed && k.style == HandedEnd:
		n.w.afterDelay(n.w.random.scaled(n.cfg.Drain, 0, 1.2), event{kind: evHandedEnd, node: n.index, gen: k.gen})
	}
	n.deliver(letter{kind: protocol.WorkChange})
}

// remains is what the runtime finds when it tells the machine of a change, which may be a later one.
func (k *work) remains() protocol.Work {
	switch {
	case k.running:
		return protocol.Running
	case k.handed:
		return protocol.HandedOut
	}
	return protocol.NoWork
}

// windDown has the work return after a while.
func (n *node) windDown() {
	r := &n.w.random
	switch {
	case n.work.style == Prompt:
		n.workIn(0)
	case n.work.style == Deaf && n.w.phase == chaos:
		n.workIn(r.scaled(n.cfg.TTL, 0.5, 4))
	default:
		n.workIn(r.scaled(n.cfg.Drain, 0, 0.85))
	}
}

// workDone is the return of the leader's function.
func (n *node) workDone(gen uint32) {
	k := &n.work
	if !n.alive || gen != k.gen || !k.running {
		return
	}
	if !n.running() {
		k.late, k.lateKind = true, evWork
		return
	}
	k.running = false
	n.w.log.end(n.index, laneWork, n.w.now)
	n.w.logf(int(n.index), "work", "of term %d has returned", k.token)
	if k.hasEnded {
		n.deliver(letter{kind: protocol.WorkChange})
		return
	}
	n.stop() // the function returned while its term stood: that ends Run
}

// handedEnd is the user of a term saying that nothing acts under it any more.
func (n *node) handedEnd(gen uint32) {
	k := &n.work
	if !n.alive || gen != k.gen || !k.handed {
		return
	}
	if !n.running() {
		k.late, k.lateKind = true, evHandedEnd
		return
	}
	k.handed = false
	n.w.log.end(n.index, laneWork, n.w.now)
	n.deliver(letter{kind: protocol.WorkChange})
}

// resume lets work go on that would have returned meanwhile.
func (k *work) resume(n *node) {
	if k.late {
		k.late = false
		n.w.afterDelay(0, event{kind: k.lateKind, node: n.index, gen: k.gen})
	}
}
