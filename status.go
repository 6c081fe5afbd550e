package tenure

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// State is where a candidate stands.
type State uint8

const (
	// StateStopped: it does not take part.
	StateStopped State = iota
	// StateCandidate: it stands by.
	StateCandidate
	// StateLeader: it leads.
	StateLeader
	// StateDraining: its term has ended, and leader work has yet to return.
	StateDraining
	// StateReleasing: the seat is being given back.
	StateReleasing
	// StateOverrun: leader work has not returned in time; until it has, the candidate does not stand.
	StateOverrun
)

var states = map[protocol.State]State{
	protocol.Off: StateStopped, protocol.Standing: StateCandidate, protocol.Leading: StateLeader,
	protocol.Draining: StateDraining, protocol.Releasing: StateReleasing, protocol.Overrun: StateOverrun,
}

var stateNames = [...]string{"stopped", "candidate", "leader", "draining", "releasing", "overrun"}

// String returns the state as logs and commands print it.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// State returns where the candidate stands. A leader whose lease has run out is not StateLeader, even if it has not got
// round to noticing: it reads the clock at every call. It makes no call to the store, does not allocate, and promises
// nothing, so that it delays no hand-over: it is the way to look, for probes, metrics and displays. Whoever acts on the
// answer asks [Candidate.IsLeader], or better [Candidate.RunIfLeader].
func (c *Candidate) State() State {
	// Not by what the goroutine has noted: it may not have got round to that when IsLeader says yes already.
	if l := c.current.Load(); l != nil && l.trust.holds() {
		return StateLeader
	}
	if s := State(c.state.Load()); s != StateLeader {
		return s
	}
	return StateDraining
}

// HandOver tells how long a candidate took to give its seat back.
type HandOver struct {
	// Took is the time from the end of the term to the release.
	Took time.Duration
	// WaitedFor is what it waited for last, for people: functions, leadership handed out, or observers. Empty if there
	// was nothing to wait for but the store.
	WaitedFor string
}

// Status is what a candidate knows at one moment. It is all from memory: nothing is asked of the store.
type Status struct {
	// Election and ID name the candidate. Session is its nonce in the records that it writes; it changes when the
	// process finds that it was copied.
	Election, ID, Session string
	// State is where the candidate stands. A leader whose lease has run out is not StateLeader, even if it has not
	// got round to noticing.
	State State
	// Record is the newest record seen; the zero Record if none was.
	Record Record
	// Unchanged is for how long the record's mark has been seen unchanged.
	Unchanged time.Duration
	// Watching tells whether the store pushes changes at present; otherwise the candidate polls while it stands by.
	Watching bool
	// Trust is what is left of the lease, zero unless the candidate leads.
	Trust time.Duration
	// LastRenewal is when the lease was last won or renewed; SafetyMargin is how much trust was left by then.
	LastRenewal  time.Time
	SafetyMargin time.Duration
	// Latency is how long the last call to the store took.
	Latency time.Duration
	// HandOver is the last one that was carried through; the zero HandOver if none was.
	HandOver HandOver
	// LastError is the last failure of the store or of the health check, nil if there was none; LastErrorAt is when.
	LastError   error
	LastErrorAt time.Time
	// Decisions are the last few, oldest first.
	Decisions []Decision
}

// Status returns what the candidate knows.
func (c *Candidate) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Read()
	seen, unchanged := c.machine.Seen(now)
	s := Status{
		Election: c.election, ID: c.config.ID, Session: c.machine.Session(), State: states[c.machine.State()],
		Watching:    c.machine.Watching(),
		LastRenewal: c.vitals.renewedAt, SafetyMargin: c.vitals.margin, Latency: c.vitals.latency,
		HandOver:  c.vitals.handOver,
		LastError: c.vitals.lastError, LastErrorAt: c.vitals.lastErrorAt, Decisions: c.history.list(),
	}
	if r, ok := seen.Origin.(*Record); ok {
		s.Record, s.Unchanged = r.Clone(), unchanged
	}
	if s.State == StateLeader {
		if s.Trust = c.trustLeft(); s.Trust == 0 {
			s.State = StateDraining
		}
	}
	return s
}

// trustLeft is what is left of the machine's term, zero while nobody was told of it yet.
func (c *Candidate) trustLeft() time.Duration {
	l := c.current.Load()
	if l == nil || l.term.Token != c.machine.Token() || !l.trust.holds() {
		return 0
	}
	return l.trust.remaining()
}

// leaderSeen is the leader in the newest record.
func (c *Candidate) leaderSeen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, _ := c.machine.Seen(c.clock.Read())
	return seen.Record.Leader
}

// checkGrade refuses a store that is weaker than asked for.
func (c *Candidate) checkGrade(ctx context.Context) error {
	if c.config.minGrade == GradeUnknown {
		return nil
	}
	var g Guarantee
	if s, ok := c.store.(Guarantor); ok {
		var err error
		if g, err = s.Guarantee(ctx); err != nil {
			return fmt.Errorf("tenure: probing the store's guarantee: %w", err)
		}
	}
	if g.Grade < c.config.minGrade {
		return fmt.Errorf("%w: it is %v, but %v is asked for; reasons: %q", ErrGrade, g.Grade, c.config.minGrade, g.Reasons)
	}
	return nil
}
