package protocol

import (
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// State is where a machine stands.
type State uint8

// The states; the package comment draws the ways between them.
const (
	Off State = iota
	Standing
	Leading
	Draining
	Releasing
	Overrun
)

var stateNames = [...]string{"stopped", "candidate", "leader", "draining", "releasing", "overrun"}

// String names the state in logs and in a candidate's status.
func (s State) String() string { return stateNames[s] }

// aim is what the machine's owner wants of it.
type aim uint8

const (
	leave     aim = iota
	stand         // again after every term
	standOnce     // until the end of a term
	try           // one bid at most
)

// call is the one call that may be in flight.
type call struct {
	busy    bool
	load    bool
	purpose Purpose
	base    string // the version that a write expects
}

// term is the machine's own lease.
type term struct {
	token   uint64
	lease   clock.Reading // before the sending of the newest attempt that landed
	renewAt time.Duration
	doubts  int // loads in a row, each after a conflict, that did not show our record

	ended   clock.Reading // when leader work was told to stop
	renews  bool          // the lease is renewed while work drains
	release bool          // the seat is given back when work is done
	keepFor string        // for this candidate
}

// Machine is one candidate of one election. It is not safe for concurrent use.
type Machine struct {
	cfg    Config
	random *rand.Rand

	out  []Effect
	wake time.Duration

	state   State
	aim     aim
	healthy bool
	work    Work

	sight    sight
	attempts attempts
	call     call
	term     term

	watching  bool          // the watch delivers
	watchEnds time.Duration // when a watch that does not deliver is set up anew
	reload    bool          // the record must be read before the next step
	quiet     time.Duration // no call before this
	pollAt    time.Duration
	failures  int // in a row, of calls
	rejected  int // in a row, of bids and releases since the last new mark
	tried     bool
	led       bool // since it began to stand
	leaving   bool // off but for a call in flight

	delay        time.Duration // of a bid for the current opening
	standoff     uint64        // no bid until a term above this is seen,
	standoffEnds time.Duration // or until this
	releaseEnds  clock.Reading
}

// New returns a machine that is off. cfg must have passed Check. The random source spreads timers; it need not be
// secure, and with the same seed and the same inputs the machine does the same.
func New(cfg Config, source rand.Source) *Machine {
	return &Machine{cfg: cfg, random: rand.New(source), healthy: !cfg.HealthChecked}
}

// never is a wake-up that does not come.
const never = time.Duration(1<<63 - 1)

// Step takes in one input at the time now and returns what is to be done about it, in order. Time must not run
// backwards on the monotonic clock.
func (m *Machine) Step(now clock.Reading, in Input) []Effect {
	m.absorb(now, in)
	m.plan(now)
	out := m.out
	m.out = nil // not kept: ten thousand machines at rest stand for election in one process
	return out
}

// Wake is the monotonic time at which the next Tick is due at the latest.
func (m *Machine) Wake() (at time.Duration, ok bool) { return m.wake, m.wake != never }

// State returns where the machine stands.
func (m *Machine) State() State { return m.state }

// Seen returns the newest record seen, and how long ago its mark was first seen.
func (m *Machine) Seen(now clock.Reading) (Snapshot, time.Duration) {
	return m.sight.newest, now.Mono - m.sight.since
}

// Token returns the token of the last term led, zero if none was.
func (m *Machine) Token() uint64 { return m.term.token }

// Watching reports whether changes are pushed at present.
func (m *Machine) Watching() bool { return m.watching }

// Trusted reports whether the machine leads, and its trust in that stands at the time now.
func (m *Machine) Trusted(now clock.Reading) bool {
	return m.state == Leading && now.Since(m.term.lease) < m.cfg.Span()
}

func (m *Machine) absorb(now clock.Reading, in Input) {
	switch in.Kind {
	case Tick:
	case Stand, StandOnce, Try:
		m.start(now, in.Kind)
	case Stop:
		m.stop(now)
	case Resign:
		m.resign(now, in.To, "the leader's own wish")
	case Loaded:
		m.loaded(now, in)
	case Wrote:
		m.wrote(now, in)
	case Pushed:
		m.pushed(now, in.Snapshot)
	case WatchLost:
		m.watching, m.watchEnds = false, now.Mono+m.cfg.TTL
		m.pollAt = now.Mono + time.Duration(float64(m.pollEvery())*m.random.Float64())
	case Healthy:
		m.healthy = true
	case Unhealthy:
		m.unhealthy(now)
	case WorkChange:
		m.workChanged(in.Work)
	case Distrust:
		m.expire(now, "the lease was found to be over when somebody asked")
	}
}

// plan decides what to do next in the current state, until a state has nothing more to do at once.
func (m *Machine) plan(now clock.Reading) {
	for {
		m.wake = never
		before := m.state
		switch m.state {
		case Off:
			m.planOff()
		case Overrun:
			m.planOverrun()
		case Standing:
			m.planStanding(now)
		case Leading:
			m.planLeading(now)
		case Draining:
			m.planDraining(now)
		case Releasing:
			m.planReleasing(now)
		}
		if m.state == before {
			return
		}
	}
}

func (m *Machine) emit(e Effect) { m.out = append(m.out, e) }

// wakeAt asks for a Tick at t at the latest.
func (m *Machine) wakeAt(t time.Duration) { m.wake = min(m.wake, t) }

// load reads the record, unless a pause after a failure has to pass first.
func (m *Machine) load(now clock.Reading, timeout time.Duration, reason string) {
	if now.Mono < m.quiet {
		m.wakeAt(m.quiet)
		return
	}
	m.call = call{busy: true, load: true}
	m.emit(Effect{Do: Load, Timeout: timeout, Reason: reason})
}

// write swaps base for r, which gets a number of its own.
func (m *Machine) write(now clock.Reading, base Snapshot, r Record, p Purpose, timeout time.Duration, reason string) {
	r.Renewals = m.attempts.number(r.Renewals)
	m.attempts.add(r, now)
	m.call = call{busy: true, purpose: p, base: base.Version}
	m.emit(Effect{Do: Write, Base: base, Record: r, Purpose: p, Timeout: timeout, Token: r.Token, Reason: reason})
}

// pushed takes in a snapshot from the watch. It makes the load that may be due needless, unless it is lower than what
// was seen before: then a load is what tells an old state from a lost one.
func (m *Machine) pushed(now clock.Reading, s Snapshot) {
	if m.state == Off {
		return // it was on its way when the watch ended
	}
	m.watching = true
	hadGap := m.sight.hasGap
	switch m.see(now, s) {
	case same:
		m.reload = false
		if m.failures == 0 {
			m.quiet = 0
		}
	case lower:
		m.reload = m.reload || !hadGap && !m.held()
	}
}

// loaded takes in the reply to a Load.
func (m *Machine) loaded(now clock.Reading, in Input) {
	m.call = call{}
	if in.Outcome == OK {
		m.failures, m.reload = 0, false
		m.learn(now, in.Snapshot)
	} else {
		m.failed(now, in)
		if m.aim == try && m.state == Standing {
			m.beginRelease(now)
		}
	}
	m.pollAt = now.Mono + m.spread(m.pollEvery())
}

// learn takes in what a Load has shown.
func (m *Machine) learn(now clock.Reading, s Snapshot) {
	switch m.see(now, s) {
	case stale:
		if m.sight.insists(now.Mono, s) {
			m.doubt(now)
			return
		}
		m.reload = true
		m.pause(now, m.cfg.Backoff.Initial)
	case lower:
		m.doubt(now)
		if m.sight.gapSince == now.Mono && !m.held() {
			m.rewatch(now)
		}
	case newer:
		m.rewatch(now)
	}
}

// rewatch follows a load that showed what the watch did not tell. A watch that is known to be interrupted has a lease
// to come back by itself.
func (m *Machine) rewatch(now clock.Reading) {
	if !m.cfg.Watch || !m.watching && now.Mono < m.watchEnds {
		return
	}
	m.watching, m.watchEnds = false, now.Mono+m.cfg.TTL
	m.emit(Effect{Do: Rewatch, Reason: "the record changed and the watch did not tell"})
}

// wrote takes in the reply to a Write.
func (m *Machine) wrote(now clock.Reading, in Input) {
	done := m.call
	m.call = call{}
	switch in.Outcome {
	case OK:
		m.failures = 0
		m.see(now, in.Snapshot)
	case Conflict:
		m.conflict(now, done)
	case NotApplied, Permanent:
		m.attempts.dropLast()
		m.failed(now, in)
	default:
		m.reload = m.state != Leading && m.state != Draining
		m.failed(now, in)
	}
}

// conflict follows a write that found another version: ours may have landed before, by an attempt whose reply was
// lost or that the library under the store repeated, so only a fresh look tells (S7).
func (m *Machine) conflict(now clock.Reading, done call) {
	m.sight.conflicted(done.base)
	if m.sight.newest.Version != done.base && !m.sight.hasGap {
		return // a newer record has arrived in the meantime, and was judged
	}
	m.reload, m.term.doubts = true, 0
	switch {
	case done.purpose == Renew:
	case m.watching && done.purpose == Bid:
		m.pause(now, m.cfg.CallTimeout) // the push of what replaced it is on its way
	default:
		m.rejected++
		if m.rejected > 1 {
			m.pause(now, m.cfg.Backoff.delay(m.rejected, m.random))
		}
	}
}

// failed spaces the calls to a store that fails.
func (m *Machine) failed(now clock.Reading, in Input) {
	m.failures++
	m.emit(Effect{Do: CallFailed, Outcome: in.Outcome, Reason: "a call to the store failed"})
	wait, asked := m.cfg.Backoff.delay(m.failures, m.random), min(in.RetryAfter, max(m.cfg.Backoff.Max, m.cfg.TTL))
	if m.held() {
		wait, asked = min(wait, m.patience(now)), min(asked, m.cfg.RenewEvery)
	}
	m.pause(now, max(wait, asked))
	if m.state == Leading && m.cfg.MaxFailures > 0 && m.failures >= m.cfg.MaxFailures {
		m.end(now, Sick, "too many failures in a row")
		m.standOff(now)
	}
}

// patience is the longest pause of a leader: a tenth of the TTL, and no longer than leaves a call its time before the
// lease ends. That the lease has room for a lost renewal and one more (Config.Check) is worth nothing otherwise.
func (m *Machine) patience(now clock.Reading) time.Duration {
	spare := m.cfg.Span() - now.Since(m.term.lease) - m.cfg.CallTimeout
	return min(m.cfg.TTL/10, max(spare, m.cfg.TTL/100))
}

func (m *Machine) pause(now clock.Reading, d time.Duration) { m.quiet = now.Mono + d }

// see judges a snapshot, whatever way it came.
func (m *Machine) see(now clock.Reading, s Snapshot) verdict {
	before := m.sight.newest.Record
	known := m.sight.known
	v := m.sight.observe(now.Mono, s)
	switch v {
	case newer:
		m.moved(now, s)
		if r := s.Record; !known && s.Exists() || known && (r.Token != before.Token || r.Session != before.Session) {
			m.emit(Effect{Do: LeaderChanged, Token: r.Token, Reason: "another term was seen"})
		}
	case same:
		m.landed(now, s.Record)
	}
	if s.Revoked && m.ours(s.Record) { // whatever else the snapshot is: what was revoked does not come back
		m.end(now, Revoked, "the store no longer vouches for the term")
	}
	return v
}

// moved follows a record that is newer than all before.
func (m *Machine) moved(now clock.Reading, s Snapshot) {
	m.rejected, m.reload, m.quiet = 0, false, 0
	m.delay = m.cfg.PriorityDelay + time.Duration(float64(m.cfg.BidSpread)*m.random.Float64())
	m.landed(now, s.Record)
	m.attempts.settle()
	if m.held() && !m.ours(s.Record) {
		m.depose(now, "another record has taken the place of ours")
	}
}

// landed gives the term what the attempt that made the record is worth.
func (m *Machine) landed(now clock.Reading, r Record) {
	if r.Session != m.cfg.Session {
		return
	}
	t, found := m.attempts.landed(r)
	switch {
	case !found:
	case !m.held() && r.Token <= m.term.token:
		// A renewal of a term that is over: its record is ours to supersede, its token is not led again (S2).
	case m.state == Standing && r.TTL != m.cfg.TTL:
		m.emit(Effect{Do: CallFailed, Outcome: Permanent, Reason: "the store did not keep the TTL as written"})
		m.standoff, m.standoffEnds = r.Token, now.Mono+m.cfg.TTL
	case m.state == Standing:
		m.elect(now, t)
	case m.held() && r.Token == m.term.token:
		m.extend(now, t)
	}
}

// ours reports whether the record is that of the machine's own term: by session and token, never by the ID alone (S5).
func (m *Machine) ours(r Record) bool { return r.Session == m.cfg.Session && r.Token == m.term.token }

// held reports whether the machine holds a term's lease, trusted or not.
func (m *Machine) held() bool { return m.state == Leading || m.state == Draining }

// spread shortens an interval by a random share of up to a tenth, so that processes do not march in step.
func (m *Machine) spread(d time.Duration) time.Duration {
	return d - time.Duration(float64(d)*m.random.Float64()/10)
}
