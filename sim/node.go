package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// subject is what the referee asks of whatever it judges: that which a user of the library can see.
type subject interface {
	Trusted(now clock.Reading) bool
	State() protocol.State
	Token() uint64
}

// node is a machine in both senses: a computer with its clocks and its connection, and the process on it that drives
// a protocol.Machine as the runtime does.
type node struct {
	w      *World
	index  int8
	plan   *NodePlan
	clocks clocks
	link   link
	paused [numPauses]int // reasons not to run
	// Since when there are none.
	runsSince time.Duration
	// How many of the next requests are lost, replies are lost, and loads answered from the past.
	loseNext, muteNext, staleNext int
	refuseNext                    int           // writes
	lag                           time.Duration // of what its loads show

	// The process.
	alive   bool
	booting bool // another process follows
	session *session
	cfg     protocol.Config
	m       *protocol.Machine
	on      bool // between Start and Done
	sub     subscription

	inbox    []letter
	inboxSet bool // an event for it is scheduled
	stepping bool
	timerSet bool
	timerAt  time.Duration
	timerGen uint32
	call     int32
	callSent bool
	awaits   bool // the machine has not been given the reply
	sendHeld bool // the request waits for the process to run again

	work  work
	trust trust
	known known

	letter letter // that is being worked on

	// For the referee.
	callDeadline time.Duration
	requests     int
	rejections   int
	healthy      bool
	standsSince  time.Duration
	aim          protocol.Kind
	quietUntil   time.Duration // on the monotonic clock: the store asked for it
	failures     int           // of calls, in a row
	failedAt     time.Duration // the last of them
	disproved    string        // the version over which the last write was rejected
	insisted     int           // how often it was shown since
	bids         int           // in this candidacy
	led          bool          // in this candidacy
	resigned     uint64        // the term that was resigned last
	resignedAt   time.Duration
	stopping     bool          // Stop was given
	leaving      clock.Reading // when the machine began to release
	hasLeaving   bool
}

// letter is one message in the mailbox of a process.
type letter struct {
	kind      protocol.Kind
	state     *state
	abandoned bool
	revoked   bool
	base      string // the version that a write expected
	outcome   protocol.Outcome
	retry     time.Duration
	to        string
	token     uint64 // of the term that a distrust is about
}

// pauseKind is why a process does not run.
type pauseKind uint8

const (
	pauseProcess pauseKind = iota
	pauseMachine
	pauseSnapshot
	numPauses
)

var pauseNames = [numPauses]string{"process paused", "machine suspended", "virtual machine stopped"}

func (n *node) setUp(w *World, index int) {
	inbox := n.inbox[:0]
	*n = node{w: w, index: int8(index), plan: &w.plan.Nodes[index], inbox: inbox, call: -1, healthy: true}
	n.cfg = n.plan.Config
	r := &w.random
	n.clocks = clocks{
		mono: n.plan.Mono, wall: n.plan.Wall, boot: n.plan.Boot, noBoot: n.plan.NoBoot, grain: n.cfg.Grain,
		base: clock.Reading{
			Mono: r.between(0, time.Hour), Wall: r.between(-time.Hour, 1000*time.Hour), Boot: r.between(1, time.Hour),
		},
	}
	if n.plan.NoBoot {
		n.clocks.base.Boot = 0
	}
}

// read is what the process reads now.
func (n *node) read() clock.Reading { return n.clocks.read(n.w.now) }

// asked is what somebody who asks the candidate at true time t counts by.
func (n *node) asked(t time.Duration) clock.Reading {
	r := n.clocks.read(t)
	if !n.w.plan.ReadsBoot {
		r.Boot = 0
	}
	return r
}

func (n *node) running() bool { return n.alive && n.paused == [numPauses]int{} }

// boot starts a process.
func (n *node) boot() {
	w := n.w
	n.session = w.newSession(n)
	n.cfg.Session = n.session.name
	n.session.cfg = n.cfg
	n.m = protocol.New(n.cfg, &w.random, &w.random)
	n.alive, n.on, n.stepping = true, false, false
	n.inbox, n.call, n.sendHeld, n.awaits = n.inbox[:0], -1, false, false
	n.known, n.work = known{}, work{gen: n.work.gen + 1}
	n.healthy = !n.cfg.HealthChecked
	n.stopping, n.hasLeaving, n.resigned = false, false, 0
	n.quietUntil, n.disproved, n.failures, n.failedAt = 0, "", 0, -farAway
	w.log.end(n.index, laneDown, w.now)
	w.logf(int(n.index), "boot", "session %s, TTL %v, drain %v", n.session.name, n.cfg.TTL, n.cfg.Drain)
}

// crash kills the process. Its requests may still be on the wire.
func (n *node) crash() {
	if !n.alive {
		return
	}
	w := n.w
	w.settleTrust(n)
	w.logf(int(n.index), "crash", "session %s", n.session.name)
	n.alive, n.on = false, false
	n.session.dead = true
	n.work.end()
	w.log.end(n.index, laneWork, w.now)
	w.log.end(n.index, laneCall, w.now)
	w.log.begin(n.index, laneDown, 0, w.now, "no process")
	w.settleTrust(n)
	n.unsubscribe()
	if cur := w.store.current; w.plan.Vouch && cur.owner == n.session {
		w.push(cur)
	}
}

// restart is the start of another process, by whoever looks after it.
func (n *node) restart(gen uint32) {
	if gen != n.w.gen {
		return
	}
	n.booting = false
	if n.alive {
		return
	}
	if n.paused != [numPauses]int{} {
		n.restartIn(n.cfg.TTL / 10)
		return
	}
	n.boot()
	n.w.afterDelay(n.w.random.scaled(n.cfg.TTL, 0, 0.2), event{kind: evStart, node: n.index})
}

func (n *node) restartIn(d time.Duration) {
	if !n.booting {
		n.booting = true
		n.w.afterDelay(d, event{kind: evRestart, node: n.index, gen: n.w.gen})
	}
}

// start has the candidate stand, mostly for good.
func (n *node) start() {
	if n.w.phase == stopping || n.w.phase == finale && n.w.plan.Finale == StopInOutage {
		return
	}
	kind := protocol.Stand
	if n.w.phase == chaos {
		kind = pick(&n.w.random, protocol.Stand, protocol.Stand, protocol.Stand, protocol.StandOnce, protocol.Try)
	}
	n.startAs(kind)
}

func (n *node) startAs(kind protocol.Kind) {
	if !n.alive || n.on {
		return
	}
	n.on, n.stopping, n.hasLeaving = true, false, false
	n.standsSince, n.aim, n.bids, n.led, n.quietUntil = n.w.now, kind, 0, false, 0
	n.failures = 0
	n.deliver(letter{kind: kind})
	if n.cfg.HealthChecked {
		n.w.afterDelay(n.w.random.scaled(n.cfg.TTL, 0, 0.1), event{
			kind: evHealed, arg: int32(Sickness), node: n.index, gen: n.w.gen,
		})
	}
	if n.cfg.Watch && kind != protocol.Try {
		n.subscribe()
	}
}

// stop has the candidate leave.
func (n *node) stop() {
	if n.alive && n.on && !n.stopping {
		n.stopping = true
		n.deliver(letter{kind: protocol.Stop})
	}
}

// deliver puts a letter into the mailbox.
func (n *node) deliver(l letter) {
	if !n.alive {
		return
	}
	n.inbox = append(n.inbox, l)
	n.pump()
}

// pump takes letters from the mailbox as soon as the process can.
func (n *node) pump() {
	if n.w.plan.MailboxLag > 0 && n.w.phase == chaos {
		n.scheduleMailbox()
		return
	}
	for !n.stepping && !n.inboxSet && len(n.inbox) > 0 && n.running() {
		n.takeLetter()
	}
}

func (n *node) scheduleMailbox() {
	if !n.inboxSet && len(n.inbox) > 0 {
		n.inboxSet = true
		lag := n.w.random.between(0, n.w.plan.MailboxLag)
		n.w.afterDelay(lag, event{kind: evMailbox, node: n.index})
	}
}

func (n *node) mailboxDue() {
	n.inboxSet = false
	if n.running() && len(n.inbox) > 0 {
		n.takeLetter()
	}
	if n.running() {
		n.pump()
	}
}

func (n *node) takeLetter() {
	n.letter = n.inbox[0]
	n.inbox = append(n.inbox[:0], n.inbox[1:]...)
	n.step()
}

// step gives the machine the letter as its input and carries out what it asks for.
func (n *node) step() {
	w, l := n.w, &n.letter
	n.stepping = true
	w.settleTrust(n)
	now := n.read()
	w.delivered(n, l, now)
	before := n.m.State()
	effects := n.m.Step(now, protocol.Input{
		Kind: l.kind, Snapshot: snapshotOf(l), Outcome: l.outcome, RetryAfter: l.retry, To: l.to, Work: n.work.remains(),
	})
	w.mix(uint64(l.kind)<<32 | uint64(before)<<16 | uint64(n.m.State())<<8 | uint64(len(effects)))
	w.Coverage.input(l.kind)
	w.Coverage.state(n.m.State())
	w.logStep(n, l, before)
	done, dies := len(effects), w.strikes(CrashInStep)
	if dies {
		done = w.random.n(len(effects) + 1)
	}
	for i := range effects[:done] {
		n.carryOut(&effects[i], now)
	}
	n.stepping = false
	if dies {
		n.crash()
		n.restartIn(w.random.scaled(n.cfg.TTL, 0, 2))
		return
	}
	if before == protocol.Draining && n.m.State() != before && n.work.handed {
		w.log.end(n.index, laneWork, w.now)
	}
	w.stepped(n, l, before, now)
	w.settleTrust(n)
	n.arm()
}

func snapshotOf(l *letter) protocol.Snapshot {
	st := l.state
	if st == nil {
		return protocol.Snapshot{}
	}
	return protocol.Snapshot{
		Version: st.version, Record: st.record, Abandoned: l.abandoned, Revoked: l.revoked, Origin: st,
	}
}

// carryOut does what one effect asks for.
func (n *node) carryOut(e *protocol.Effect, now clock.Reading) {
	w := n.w
	w.mix(uint64(e.Do)<<56 ^ e.Token<<8 ^ e.Record.Renewals)
	w.Coverage.effect(e)
	w.logEffect(n, e)
	w.checkEffect(n, e, now)
	switch e.Do {
	case protocol.Load, protocol.Write:
		n.begin(e, now)
	case protocol.CancelCall:
		if n.call >= 0 {
			w.afterDelay(w.random.between(0, w.plan.OneWayMax), event{kind: evCancel, node: n.index, arg: n.call})
		}
	case protocol.Rewatch:
		n.subscribe()
	case protocol.Elected:
		n.elected(e)
	case protocol.Ended:
		n.ended()
	case protocol.CallFailed:
		if e.Outcome == protocol.Permanent && w.plan.QuitsOnPermanent && w.phase == chaos {
			n.stop()
		}
	case protocol.Copied:
		n.renamed()
	case protocol.Done:
		n.done()
	}
}

// done is the end of a candidacy; the user may start another.
func (n *node) done() {
	w := n.w
	n.on = false
	if n.sub.live && w.random.chance(0.3) {
		n.deliver(letter{kind: protocol.Pushed, state: w.store.current}) // it was in the mailbox already
	}
	n.unsubscribe()
	if w.restartsCandidates() {
		w.afterDelay(w.random.scaled(n.cfg.TTL, 0.01, 0.3), event{kind: evStart, node: n.index})
	}
}

// arm sets the timer to what is due first: the machine's, or the end of the call in flight.
func (n *node) arm() {
	if !n.running() {
		return
	}
	due, set := n.m.Wake()
	if n.call >= 0 && n.callSent && (!set || n.callDeadline < due) {
		due, set = n.callDeadline, true
	}
	if !set {
		return
	}
	at, ok := n.clocks.whenMono(n.w.now, due)
	if !ok {
		return
	}
	if n.w.phase == chaos {
		at += n.w.plan.TimerLag
	}
	if n.timerSet && n.timerAt <= at {
		return
	}
	n.timerSet, n.timerAt = true, at
	n.timerGen++
	n.w.queue.push(event{at: at, kind: evTimer, node: n.index, gen: n.timerGen})
}

func (n *node) timerDue(gen uint32) {
	if gen != n.timerGen || !n.timerSet {
		return
	}
	n.timerSet = false
	if !n.running() {
		return
	}
	mono := n.read().Mono
	if n.call >= 0 && n.callSent && n.callDeadline <= mono {
		n.gaveUp(&n.w.calls[n.call])
	}
	if at, ok := n.m.Wake(); ok && at <= mono && n.running() {
		n.letter = letter{kind: protocol.Tick}
		n.step()
		n.pump()
		return
	}
	n.arm()
}

// resume ends one reason for the process not to run.
func (n *node) resume(kind pauseKind, gen uint32) {
	w := n.w
	if gen != w.gen {
		return // it was healed
	}
	w.settleTrust(n)
	n.paused[kind]--
	n.setClocks()
	w.logf(int(n.index), "resume", "")
	if !n.running() {
		return
	}
	n.runsSince = w.now
	if n.m.State() == protocol.Leading && !n.m.Trusted(n.read()) {
		w.closeTrust(n, w.now) // from here on somebody has to notice
	}
	n.sendAnyway()
	n.work.resume(n)
	if w.random.chance(0.5) {
		w.ask(n) // somebody asks before the runtime gets to anything
	}
	n.timerSet = false
	n.pump()
	n.arm()
}

// sendAnyway sends the request that waited for the process to run again.
func (n *node) sendAnyway() {
	if n.sendHeld && n.call >= 0 {
		n.w.send(&n.w.calls[n.call])
	}
	n.sendHeld = false
}

// setClocks lets the clocks run or stand as the machine's state has it.
func (n *node) setClocks() {
	n.clocks.rebase(n.w.now)
	n.clocks.suspended = n.paused[pauseMachine] > 0
	n.clocks.frozen = n.paused[pauseSnapshot] > 0
}
