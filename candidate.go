package tenure

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// Candidate takes part in one election. It is made by [New] and idle until one of Run, Start, Campaign and
// TryAcquire is called; after it has stopped it can be started again. All methods are safe for concurrent use.
type Candidate struct {
	store    Store
	election string
	config   *config
	clock    clock.Source
	events   *dispatcher // nil without observers
	log      *journal    // nil without a logger

	current atomic.Pointer[lead] // the term that stands, or whose work drains; nil if none
	state   atomic.Uint32        // a State, by the machine alone

	inbox  inbox
	strays strays

	mu      sync.Mutex // guards the machine between steps, and all below
	machine *protocol.Machine
	stint   *stint // nil while the candidate is idle
	history ring
	vitals  vitals
}

// New returns a candidate of the election in store. The error wraps [ErrConfig] and names what is wrong: a name, or
// options that contradict each other or cannot be safe. Nothing is sent to the store yet.
func New(store Store, election string, options ...Option) (*Candidate, error) {
	if err := checkPlace(store, election); err != nil {
		return nil, err
	}
	_, watches := store.(Watcher)
	unit := time.Millisecond
	if s, ok := store.(TTLUnit); ok {
		unit = max(unit, s.TTLUnit())
	}
	config, err := newConfig(options, watches, unit)
	if err != nil {
		return nil, err
	}
	c := &Candidate{
		store: store, election: election, config: config, clock: clock.New(config.clock),
		machine: protocol.New(config.Config, config.random, fresh{}),
	}
	c.inbox.bell = make(chan struct{}, 1)
	c.log = newJournal(config.logger, "election", election, "candidate", config.ID)
	c.events = newDispatcher(config.observers, c.log)
	return c, nil
}

// ID returns the candidate's ID.
func (c *Candidate) ID() string { return c.config.ID }

// Election returns the name of the election.
func (c *Candidate) Election() string { return c.election }

// IsLeader reports whether the candidate leads now, to whoever is going to act on the answer. It reads the clock at
// every call, so that a process that was paused or suspended past its lease gets the right answer at once; it makes no
// call to the store and does not allocate.
//
// A yes counts as leadership handed out: giving up the seat later takes the full drain, unless [Candidate.Idle] says
// that nothing acts on it any more, or the function of Run has returned, or Resign of a Leadership was called, which
// say the same. Whatever only looks, such as a probe, a metric or a display, asks [Candidate.State], which hands out
// nothing.
func (c *Candidate) IsLeader() bool {
	l := c.current.Load()
	return l != nil && l.ask()
}

// Term returns the term that the candidate leads, false if it does not lead. Like a yes of IsLeader it counts as
// leadership handed out.
func (c *Candidate) Term() (Term, bool) {
	l := c.current.Load()
	if l == nil || !l.ask() {
		return Term{}, false
	}
	return l.term, true
}

// Idle says that nothing in this process acts any more on an answer of IsLeader or Term, so that a seat that is being
// given up need not wait for the rest of the drain. A later yes counts anew.
func (c *Candidate) Idle() {
	if l := c.current.Load(); l != nil {
		l.idle()
	}
}

// RunIfLeader calls fn if the candidate leads, and reports whether it did. The context of fn ends with ctx and with
// the term, and [context.Cause] then tells which; the seat is not given up before fn has returned. The error is fn's,
// or [ErrConfig] if fn is nil.
func (c *Candidate) RunIfLeader(ctx context.Context, fn func(context.Context, Term) error) (ran bool, err error) {
	if fn == nil {
		return false, errNoWork
	}
	l := c.current.Load()
	if l == nil || !l.trust.holds() || !l.enter() {
		return false, nil
	}
	defer l.leave()
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work, duty := c.onDuty(work)
	defer duty.end()
	stop := context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })
	defer stop()
	return true, fn(work, l.term)
}
