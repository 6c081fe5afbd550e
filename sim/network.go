package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// sentAt is when a machine asked for a write: the reading that it was given, and true time.
type sentAt struct {
	reading clock.Reading
	at      time.Duration
}

// call is one call of a process to the store.
type call struct {
	index   int32
	node    *node
	session *session
	open    bool // its caller waits
	load    bool
	purpose protocol.Purpose
	timeout time.Duration
	attempt attempt

	base   string
	from   *state // the state that a write starts from
	record protocol.Record
	extra  uint64

	applied, refused bool // by one of its arrivals

	// The answer.
	outcome   protocol.Outcome
	retry     time.Duration
	state     *state
	abandoned bool
}

// link is the connection of a machine with the store.
type link struct {
	requests, replies int // reasons why they are lost
}

// begin starts a call for an effect. The process may be paused after the machine has read the clock and before the
// request leaves.
func (n *node) begin(e *protocol.Effect, now clock.Reading) {
	w := n.w
	w.calls = append(w.calls, call{
		index: int32(len(w.calls)), node: n, session: n.session, open: true, load: e.Do == protocol.Load,
		purpose: e.Purpose, timeout: e.Timeout, base: e.Base.Version, record: e.Record,
	})
	c := &w.calls[len(w.calls)-1]
	if !c.load {
		w.emitted(n, c, e, now)
	}
	n.call, n.callSent, n.awaits = c.index, false, true
	if w.log != nil {
		w.log.begin(n.index, laneCall, 0, w.now, callName(c))
	}
	if w.strikes(PauseBefore) {
		w.pause(n, w.random.scaled(n.cfg.TTL, 0, 1.5))
		n.sendHeld = true
		return
	}
	w.send(c)
}

// emitted notes the attempt that an effect is, and checks it.
func (w *World) emitted(n *node, c *call, e *protocol.Effect, now clock.Reading) {
	if st, ok := e.Base.Origin.(*state); ok {
		c.from = st
		c.extra = st.extra // the overlay of the runtime: what it does not know stays as it was
	}
	c.attempt = attempt{session: n.session, sent: sentAt{now, w.now}, longest: n.session.longest, low: -1}
	if c.from != nil && w.edited {
		c.attempt.over, c.attempt.shown = c.from.record.Token, w.longestShown(n.session, c.from)
	}
	w.checkWrite(n, c, e)
}

// send puts the request on the wire.
func (w *World) send(c *call) {
	n := c.node
	w.checkPatience(n)
	n.callSent = true
	n.callDeadline = n.clocks.read(w.now).Mono + c.timeout
	n.requests++
	r := &w.random
	if n.link.requests > 0 || take(&n.loseNext) || w.strikes(RequestLost) {
		return
	}
	delay := w.oneWay()
	if w.strikes(RequestLate) {
		delay += r.scaled(n.cfg.TTL, 0, 2)
	}
	arrival := event{kind: evArrive, node: n.index, arg: c.index}
	switch {
	case c.load:
	case w.strikes(Repeated):
		first := arrival
		first.flag = true
		w.afterDelay(delay, first)
		delay += r.scaled(c.timeout, 0, 1)
	case w.strikes(Duplicated):
		second := arrival
		second.flag = true
		w.afterDelay(delay+r.scaled(n.cfg.TTL, 0, 2), second)
	}
	w.afterDelay(delay, arrival)
}

func (w *World) oneWay() time.Duration {
	return w.random.between(w.plan.OneWayMin, w.plan.OneWayMax)
}

// take uses up one of several.
func take(left *int) bool {
	if *left == 0 {
		return false
	}
	*left--
	return true
}

// strikes decides whether a fault strikes a message, and counts it.
func (w *World) strikes(f MessageFault) bool {
	if w.phase != chaos || !w.random.chance(w.plan.Message[f]) {
		return false
	}
	w.Coverage.message(f)
	w.mix(uint64(f) + 0xf00)
	return true
}

// arrive carries out a request at the store.
func (w *World) arrive(c *call, suppressed bool) {
	s := &w.store
	if s.frozen > 0 {
		s.waiting = append(s.waiting, waiting{c.index, suppressed})
		return
	}
	if c.refused {
		return // the store promised that it was not written: a repetition of it must not be either
	}
	outcome, retry, st := w.serve(c)
	if outcome == protocol.NotApplied || outcome == protocol.Permanent {
		if c.applied {
			outcome = protocol.Unknown
		}
		c.refused = !suppressed
	}
	if suppressed || c.state != nil || !c.open {
		return
	}
	c.outcome, c.retry, c.state = outcome, retry, st
	if st == nil {
		c.state = s.current
	}
	c.abandoned = s.abandoned(c.state)
	w.answer(c)
}

// serve executes the request, unless a fault of the store refuses it.
func (w *World) serve(c *call) (outcome protocol.Outcome, retry time.Duration, st *state) {
	s := &w.store
	switch {
	case !c.load && take(&c.node.refuseNext):
		return protocol.NotApplied, 100 * c.session.cfg.TTL, nil
	case s.throttling > 0 && w.random.chance(0.8) || w.strikes(Refused):
		retry = pick(&w.random, 0, w.random.scaled(c.session.cfg.TTL, 0, 0.3), 100*c.session.cfg.TTL)
		w.Coverage.outcome(protocol.NotApplied)
		return protocol.NotApplied, retry, nil
	case s.credentials > 0 && (!c.load || w.random.chance(0.5)):
		w.Coverage.outcome(protocol.Permanent)
		return protocol.Permanent, 0, nil
	case s.away > 0 || w.strikes(Broken):
		if !c.load && w.random.chance(0.4) {
			s.swap(c)
		}
		w.Coverage.outcome(protocol.Unknown)
		return protocol.Unknown, 0, nil
	case c.load && (take(&c.node.staleNext) || w.strikes(StaleRead)):
		st = s.stale(w.random.scaled(c.session.cfg.TTL, 0, 2))
	case c.load:
		st = s.stale(c.node.lag)
	default:
		st = s.swap(c)
	}
	if st == nil {
		w.Coverage.outcome(protocol.Conflict)
		w.rejected(c)
		return protocol.Conflict, 0, nil
	}
	w.Coverage.outcome(protocol.OK)
	return protocol.OK, 0, st
}

// answer sends the reply on its way.
func (w *World) answer(c *call) {
	if take(&c.node.muteNext) || w.strikes(ReplyLost) {
		return
	}
	delay := w.oneWay()
	if w.strikes(ReplyLate) {
		delay += w.random.scaled(c.session.cfg.TTL, 0, 2)
	}
	w.afterDelay(delay, event{kind: evReply, node: c.node.index, arg: c.index})
}

// reply is the reply's arrival.
func (w *World) reply(c *call) {
	if c.node.link.replies > 0 {
		return
	}
	c.node.answered(c)
}

// answered ends a call with its reply, if its caller still waits.
func (n *node) answered(c *call) {
	if !n.closeCall(c) {
		return
	}
	n.deliver(letter{
		kind: replyKind(c), state: c.state, outcome: c.outcome, retry: c.retry, abandoned: c.abandoned, base: c.base,
	})
}

func callName(c *call) string {
	if c.load {
		return "load"
	}
	return c.purpose.String()
}

func replyKind(c *call) protocol.Kind {
	if c.load {
		return protocol.Loaded
	}
	return protocol.Wrote
}

// gaveUp ends a call whose reply nobody waits for any longer.
func (n *node) gaveUp(c *call) {
	if n.closeCall(c) {
		n.deliver(letter{kind: replyKind(c), outcome: protocol.Unknown})
	}
}

// closeCall takes a call out of flight; false if it was not.
func (n *node) closeCall(c *call) bool {
	if !c.open || !n.alive || n.session != c.session {
		return false
	}
	c.open = false
	n.call = -1
	n.w.log.end(n.index, laneCall, n.w.now)
	return true
}

// cancelled is the return of a call whose context was cancelled.
func (w *World) cancelled(c *call) { c.node.gaveUp(c) }

// thaw answers what arrived while the store was frozen.
func (w *World) thaw() {
	list := w.store.waiting
	for i, r := range list {
		w.afterDelay(time.Duration(i), event{
			kind: evArrive, arg: r.call, flag: r.suppressed, node: w.calls[r.call].node.index,
		})
	}
	w.store.waiting = list[:0]
}
