package sim

import (
	"fmt"
	"time"
)

type eventKind uint8

const (
	evMailbox     eventKind = iota // node takes the next letter from its mailbox
	evTimer                        // node's timer, gen
	evSend                         // call arg leaves node
	evArrive                       // call arg reaches the store; flag: its reply is suppressed
	evReply                        // call arg's reply reaches node
	evCancel                       // call arg returns since it was cancelled
	evPush                         // state arg reaches node's subscription gen; flag: abandoned
	evSubscribe                    // node's subscription gen is set up
	evWork                         // leader work gen of node returns
	evHandedEnd                    // the user of node, work gen, says that its work is done
	evAsk                          // somebody asks node whether it leads
	evStart                        // the user starts node's candidate
	evRestart                      // a new process is started on node's machine
	evResume                       // one reason for node not to run ends
	evFault                        // a fault strikes
	evHealed                       // fault arg ends, at node
	evPhase                        // phase gen has taken its time
	evFinale                       // step arg of the finale
	evMustOverrun                  // leader work gen of node must have been reported as overrun
	evMustEnd                      // the term of node must have ended by now, unless its trust has turned since gen
	evCopiesOver                   // at most one copy of a process is trusted from here on
	evWatchLost                    // node's watch is interrupted once more, gen
	evForget                       // an operator has watched the mark arg for a TTL, and forgets the election
	numEventKinds
)

// maxEvents bounds a history: one that goes on is a storm.
const maxEvents = 50_000

// World is one history. It can be run again with another seed, and then allocates little.
type World struct {
	Seed       uint64
	Violations []Violation // the first of each rule
	Coverage   Coverage

	plan   Plan
	random random
	now    time.Duration
	queue  queue
	nodes  []node
	store  store
	calls  []call

	sessions []*session // of this history; those beyond are kept for the next
	spare    []*session
	terms    []term

	forked bool // the store has lost writes
	pruned bool // the record was deleted properly
	edited bool // somebody has changed the TTL in the record
	gen    uint32

	broken [numRules]bool
	hash   uint64
	events int
	over   bool
	log    *Log // nil unless the history is recorded

	phase    phase
	liveness liveness
}

// NewWorld returns a world without a history.
func NewWorld() *World { return &World{} }

// Run plays the history of that kind and seed. It returns true if no rule was broken.
func (w *World) Run(kind Kind, seed uint64) bool {
	w.reset(seed)
	w.plan.draw(&w.random, kind)
	w.checkRefusals()
	w.begin()
	w.phase = chaos
	w.log.begin(-1, lanePhase, 0, 0, phaseNames[chaos])
	w.afterDelay(w.plan.Chaos, event{kind: evPhase, gen: uint32(chaos)})
	if len(w.plan.Faults) > 0 {
		w.afterDelay(w.random.between(0, w.plan.FaultEvery), event{kind: evFault})
	}
	w.loop()
	return len(w.Violations) == 0
}

// Record makes the next Run keep a log of everything for people to read. It is slow.
func (w *World) Record(log *Log) { w.log = log }

// Hash is a hash of everything that happened in the history.
func (w *World) Hash() uint64 { return w.hash }

// Duration is how long the history took in its own time.
func (w *World) Duration() time.Duration { return w.now }

func (w *World) reset(seed uint64) {
	w.Seed, w.random = seed, random{seed}
	w.Violations, w.broken = w.Violations[:0], [numRules]bool{}
	w.Coverage, w.forked, w.pruned, w.edited, w.gen = Coverage{}, false, false, false, 0
	w.now, w.events, w.over, w.hash = 0, 0, false, 14695981039346656037
	w.queue.reset()
	w.nodes = w.nodes[:0]
	w.calls = w.calls[:0]
	w.terms = w.terms[:0]
	w.spare = append(w.spare, w.sessions...)
	w.sessions = w.sessions[:0]
	w.phase, w.liveness = 0, liveness{}
}

// begin sets up the store and starts a process on every machine.
func (w *World) begin() {
	w.coverPlan()
	w.store.begin(w)
	if cap(w.nodes) < len(w.plan.Nodes) {
		w.nodes = make([]node, len(w.plan.Nodes))
	}
	w.nodes = w.nodes[:len(w.plan.Nodes)]
	for i := range w.nodes {
		n := &w.nodes[i]
		n.setUp(w, i)
		n.boot()
		w.afterDelay(w.random.scaled(w.plan.longest(), 0, 0.5), event{kind: evStart, node: n.index})
		w.afterDelay(w.random.scaled(w.plan.AskEvery, 0, 1), event{kind: evAsk, node: n.index})
	}
}

// loop plays events until the history is over.
func (w *World) loop() {
	for !w.over && len(w.queue.heap) > 0 {
		e := w.queue.pop()
		w.now = e.at
		w.mix(uint64(e.at)<<8 | uint64(e.kind))
		w.mix(uint64(uint32(e.arg))<<8 | uint64(uint8(e.node)))
		if w.events++; w.events > maxEvents {
			w.fail(L5, int(e.node), "%d events in %v: the history does not come to an end", w.events, w.now)
			return
		}
		w.play(&e)
	}
}

func (w *World) play(e *event) {
	var n *node
	if int(e.node) < len(w.nodes) {
		n = &w.nodes[e.node]
	}
	switch e.kind {
	case evMailbox:
		n.mailboxDue()
	case evTimer:
		n.timerDue(e.gen)
	case evSend:
		w.send(&w.calls[e.arg])
	case evArrive:
		w.arrive(&w.calls[e.arg], e.flag)
	case evReply:
		w.reply(&w.calls[e.arg])
	case evCancel:
		w.cancelled(&w.calls[e.arg])
	case evPush:
		n.pushed(e.gen, w.store.states[e.arg], e.flag)
	case evSubscribe:
		n.subscribed(e.gen)
	case evWork:
		n.workDone(e.gen)
	case evHandedEnd:
		n.handedEnd(e.gen)
	case evAsk:
		w.ask(n)
		w.afterDelay(w.random.scaled(w.plan.AskEvery, 0, 2), event{kind: evAsk, node: n.index})
	case evStart:
		n.start()
	case evRestart:
		n.restart(e.gen)
	case evResume:
		n.resume(pauseKind(e.arg), e.gen)
	case evFault:
		w.nextFault()
	case evHealed:
		w.healed(Fault(e.arg), n, e.gen)
	case evPhase:
		w.phaseOver(phase(e.gen))
	case evFinale:
		w.finaleStep(int(e.arg))
	case evMustOverrun:
		w.mustOverrun(n, e.gen)
	case evMustEnd:
		w.mustEnd(n, e.gen)
	case evCopiesOver:
		w.copiesOver()
	case evWatchLost:
		n.watchLost(e.gen)
	case evForget:
		w.forgetSilent(e.arg, e.gen)
	}
}

// after schedules an event d from now.
func (w *World) afterDelay(d time.Duration, e event) {
	e.at = w.now + d
	w.queue.push(e)
}

// mix adds to the hash of the history.
func (w *World) mix(x uint64) {
	w.hash = (w.hash ^ x) * 1099511628211
	w.hash ^= w.hash >> 29
}

// fail notes a violation, the first of each rule.
func (w *World) fail(r Rule, node int, format string, args ...any) {
	if w.broken[r] {
		return
	}
	w.broken[r] = true
	v := Violation{Rule: r, At: w.now, Node: node, Text: fmt.Sprintf(format, args...)}
	w.Violations = append(w.Violations, v)
	w.logf(node, "VIOLATION", "%v", v)
}

// Broke reports whether the history broke the rule.
func (w *World) Broke(r Rule) bool { return w.broken[r] }
