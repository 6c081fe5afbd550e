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

// term is the machine's own lease.
type term struct {
	token   uint64
	lease   clock.Reading // before the sending of the newest attempt that landed
	renewAt time.Duration

	doubts    int           // loads in a row, after a conflict, that did not show our record as it should be
	doubtedAt time.Duration // the first of them
	fromGap   bool          // the next renewal starts from what the store seems to have gone back to

	ended   clock.Reading // when leader work was told to stop
	renews  bool          // the lease is renewed while work drains
	release bool          // the seat is given back when work is done
	keepFor string        // for this candidate
}

// Machine is one candidate of one election. It is not safe for concurrent use.
type Machine struct {
	cfg    Config
	random *rand.Rand
	fresh  rand.Source

	out  []Effect
	wake time.Duration

	state   State
	aim     aim
	healthy bool
	judged  bool // healthy was said by the health check
	work    Work

	sight    sight
	attempts attempts
	call     call
	term     term

	watching   bool          // the watch delivers
	watchSince time.Duration // since when it does
	watchEnds  time.Duration // when a watch that does not deliver is set up anew
	confirm    bool          // a push has lifted or set the pause, in what order nobody knows:
	confirmAt  time.Duration // then a load is to tell
	reload     bool          // the record must be read before the next step
	quiet      time.Duration // no call before this
	pollAt     time.Duration
	failures   int // in a row, of calls
	rejected   int // in a row, of bids and releases since the last new mark
	tried      bool
	led        bool // since it began to stand
	leaving    bool // off but for a call in flight

	delay        time.Duration // of a bid for the current opening
	standoff     uint64        // no bid until a term above this is seen,
	standoffEnds time.Duration // or until this
	releaseEnds  clock.Reading
}

// New returns a machine that is off. cfg must have passed Check. The source spread spreads timers; it need not be
// secure. The source fresh numbers attempts and makes sessions: a copy of this process, such as a snapshot of a virtual
// machine that is restored twice, must not get the same from it. With the same from both, and the same inputs, the
// machine does the same.
func New(cfg Config, spread, fresh rand.Source) *Machine {
	return &Machine{cfg: cfg, random: rand.New(spread), fresh: fresh, healthy: !cfg.HealthChecked}
}

// Clone returns the machine as it would be in a copy of its process.
func (m *Machine) Clone(spread, fresh rand.Source) *Machine {
	c := *m
	c.random, c.fresh, c.out = rand.New(spread), fresh, nil
	c.sight, c.attempts = m.sight.clone(), m.attempts.clone()
	return &c
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

// Session returns the nonce by which the machine knows its own records.
func (m *Machine) Session() string { return m.cfg.Session }

// Watching reports whether changes are pushed at present.
func (m *Machine) Watching() bool { return m.watching }

// Trusted reports whether the machine leads, and its trust in that stands at the time now.
func (m *Machine) Trusted(now clock.Reading) bool {
	return m.state == Leading && now.Since(m.term.lease) < m.cfg.Span()
}

func (m *Machine) absorb(now clock.Reading, in Input) {
	// A store may hold what no candidate wrote, and no sum may overflow by it.
	in.Snapshot.Record.TTL = min(max(in.Snapshot.Record.TTL, 0), MaxTTL)
	switch in.Kind {
	case Tick:
	case Stand, StandOnce, Try:
		m.start(now, in.Kind)
	case Stop:
		m.stop(now)
	case Resign:
		if in.Token == 0 || in.Token == m.term.token {
			m.resign(now, in.To, "the leader's own wish")
		}
	case Loaded:
		m.loaded(now, in)
	case Wrote:
		m.wrote(now, in)
	case Pushed:
		m.pushed(now, in.Snapshot)
	case WatchLost:
		m.watchLost(now)
	case Healthy:
		m.healthy, m.judged = true, true
	case Unhealthy:
		m.unhealthy(now)
	case WorkChange:
		m.workChanged(now, in.Work)
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
			m.planOverrun(now)
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

// held reports whether the machine holds a term's lease, trusted or not.
func (m *Machine) held() bool { return m.state == Leading || m.state == Draining }

// share returns a random part of an interval.
func (m *Machine) share(d time.Duration) time.Duration {
	return time.Duration(float64(d) * m.random.Float64())
}

// spread shortens an interval by a random share of up to a tenth, so that processes do not march in step.
func (m *Machine) spread(d time.Duration) time.Duration {
	return d - time.Duration(float64(d)*m.random.Float64()/10)
}
