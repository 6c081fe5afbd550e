package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// subscription is a process's watch of the record.
type subscription struct {
	wanted bool
	live   bool          // set up, and delivering
	silent bool          // no longer delivering, though nobody knows
	gen    uint32        // pushes to an earlier subscription are void
	last   time.Duration // when the last push arrives, so that they keep their order
}

// subscribe sets the watch up anew.
func (n *node) subscribe() {
	n.sub.gen++
	n.sub.live, n.sub.silent, n.sub.wanted, n.sub.last = false, false, true, 0
	if n.w.watchIsBroken() {
		n.w.afterDelay(0, event{kind: evWatchLost, node: n.index, gen: n.sub.gen})
		return
	}
	n.w.afterDelay(n.w.oneWay(), event{kind: evSubscribe, node: n.index, gen: n.sub.gen})
}

func (n *node) unsubscribe() {
	n.sub.gen++
	n.sub.live, n.sub.silent, n.sub.wanted = false, false, false
}

// subscribed is the arrival of the subscription at the store, which answers with the current state.
func (n *node) subscribed(gen uint32) {
	if gen != n.sub.gen || !n.alive || !n.sub.wanted {
		return
	}
	if n.link.requests > 0 || n.w.store.frozen > 0 || n.w.store.away > 0 {
		n.w.afterDelay(n.cfg.TTL/10, event{kind: evSubscribe, node: n.index, gen: gen})
		return
	}
	n.sub.live = true
	n.w.pushTo(n, n.w.store.current)
}

// push tells all subscriptions of a new state.
func (w *World) push(st *state) {
	if !w.plan.Push {
		return
	}
	for i := range w.nodes {
		if w.nodes[i].sub.live {
			w.pushTo(&w.nodes[i], st)
		}
	}
}

func (w *World) pushTo(n *node, st *state) {
	if n.sub.silent || n.link.replies > 0 || w.strikes(PushLost) {
		return
	}
	at := w.now + w.oneWay()
	if w.phase == chaos && w.plan.PushSpread > 0 {
		at += w.random.between(0, w.plan.PushSpread) // no order is kept
	} else {
		at = max(at, n.sub.last)
		n.sub.last = at
	}
	if w.strikes(PushLate) {
		at += w.random.scaled(n.cfg.TTL, 0, 2)
	}
	e := event{
		kind: evPush, node: n.index, gen: n.sub.gen, arg: st.index, flag: w.store.abandoned(st),
	}
	e.at = at
	w.queue.push(e)
	if w.strikes(PushTwice) {
		e.at += w.random.scaled(n.cfg.TTL, 0, 1)
		w.queue.push(e)
	}
}

// pushed is the arrival of a push.
func (n *node) pushed(gen uint32, st *state, abandoned bool) {
	if gen == n.sub.gen && n.alive {
		n.deliver(letter{kind: protocol.Pushed, state: st, abandoned: abandoned})
	}
}

// revoke tells a process that the store no longer vouches for its term, by whatever state of it was written last.
func (n *node) revoke() bool {
	st := n.session.high
	if !n.on || st == nil || st.owner != n.session || st.record.Vacant() {
		return false
	}
	n.deliver(letter{kind: protocol.Pushed, state: st, revoked: true})
	return true
}

// interrupt breaks the watch, which the process is told; it is restored later.
func (n *node) interrupt() {
	if !n.sub.live {
		return
	}
	n.sub.gen++
	n.sub.live, n.sub.silent = false, false
	n.deliver(letter{kind: protocol.WatchLost})
	n.w.afterDelay(n.w.random.scaled(n.cfg.TTL, 0, 1.5), event{kind: evSubscribe, node: n.index, gen: n.sub.gen})
}

// watchLost tells the process once more that its watch is interrupted.
func (n *node) watchLost(gen uint32) {
	if gen != n.sub.gen || !n.alive || !n.on || n.w.phase > chaos && !n.w.watchIsBroken() {
		return
	}
	n.deliver(letter{kind: protocol.WatchLost})
	if n.w.watchIsBroken() {
		n.w.afterDelay(n.cfg.TTL/20, event{kind: evWatchLost, node: n.index, gen: gen})
	}
}

// watchIsBroken reports whether no watch can be set up any more, which everybody is told again and again.
func (w *World) watchIsBroken() bool { return w.plan.BrokenWatch && w.phase > chaos }

// pushes reports whether the store pushes changes at present.
func (w *World) pushes() bool { return w.plan.Push && !w.watchIsBroken() }
