package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// stage is a demo under way. One goroutine owns all of it; the processes' reports reach it through a channel.
type stage struct {
	Options
	store    tenure.Store
	random   *rand.Rand
	began    guard.Instant
	messages chan message
	closed   chan struct{} // nobody listens any more
	launched int           // processes that have not been reported gone yet

	members []*member
	terms   []*term // in the order in which they were first heard of
	events  []Event
	pending *Event // what was done just now, until it is known what followed
	// contested tells whether another node was there to follow the leader, or had to be started first.
	contested bool
	done      int // faults so far
	closing   bool
	times     samples

	failures    int // of the store, as nodes reported them
	lastFailure string
	failed      error // why the demo cannot go on
}

// samples are the times that something took.
type samples struct{ handOver, afterKill, afterFreeze []time.Duration }

func newStage(o Options, store tenure.Store) *stage {
	s := &stage{
		Options: o, store: store, random: rand.New(rand.NewPCG(o.Seed, 0)), messages: make(chan message, 1024),
		closed: make(chan struct{}),
	}
	for i := range o.Nodes {
		s.members = append(s.members, &member{id: fmt.Sprintf("node-%d", i+1)})
	}
	return s
}

// now is the time since the start.
func (s *stage) now() time.Duration { return guard.Now().Sub(s.began) }

func (s *stage) startMember(m *member) {
	m.restartAt = 0
	if s.failed != nil {
		return
	}
	p, err := launch(s.Program, task{
		Store: s.Store, Election: s.Election, ID: m.id, TTL: s.TTL, Unsafe: s.Unsafe, Remove: s.Remove,
	}, s.deliver)
	if p != nil {
		s.launched++
	}
	if err != nil {
		s.failed = err
		return
	}
	m.process = p
	m.enter(alive, guard.Now())
}

// deliver hands a message to the goroutine that owns the stage, as long as it listens.
func (s *stage) deliver(m message) {
	select {
	case s.messages <- m:
	case <-s.closed:
	}
}

// frameEvery is how often the display is drawn.
const frameEvery = 100 * time.Millisecond

// until takes in what happens until done says so, and reports whether it did. It gives up after limit, with ctx, and
// when the demo has failed.
func (s *stage) until(ctx context.Context, limit time.Duration, done func() bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	frames := time.NewTicker(frameEvery)
	defer frames.Stop()
	for !done() {
		if s.failed != nil {
			return false
		}
		select {
		case m := <-s.messages:
			s.hear(m)
		case <-frames.C:
			s.restart()
			s.Display.Frame(s.view())
		case <-timer.C:
			return done()
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// pass lets time pass.
func (s *stage) pass(ctx context.Context, d time.Duration) {
	s.until(ctx, d, func() bool { return false })
}

// restart starts the nodes again whose time has come.
func (s *stage) restart() {
	now := guard.Now()
	for _, m := range s.members {
		if m.process == nil && m.restartAt != 0 && m.restartAt <= now {
			s.startMember(m)
		}
	}
}

// perform makes a call to the store while the demo goes on.
func (s *stage) perform(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	var err error
	returned := false
	go func() {
		result := call(ctx)
		s.deliver(message{then: func() { err, returned = result, true }})
	}()
	if !s.until(ctx, s.patience(), func() bool { return returned }) {
		return cmp.Or(s.failed, context.Cause(ctx), context.DeadlineExceeded)
	}
	return err
}

// patience is how long anything may take.
func (s *stage) patience() time.Duration { return 3*s.TTL + 15*time.Second }

// hear takes in a message from a process.
func (s *stage) hear(msg message) {
	if msg.then != nil {
		msg.then()
		return
	}
	if msg.gone {
		s.launched--
	}
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.process == msg.from })
	if i < 0 {
		return // started in vain
	}
	m := s.members[i]
	switch {
	case msg.gone:
		s.hearGone(m, msg.err)
	case msg.Kind == reportUp:
		m.up = true
	case msg.Kind == reportWoke:
		m.woke = msg.report
	case msg.Kind == reportFailed:
		s.failures++
		s.lastFailure = m.id + ": " + oneLine(msg.Reason)
	default:
		s.hearTerm(m, msg.report)
	}
}

// hearTerm takes in what concerns a term.
func (s *stage) hearTerm(m *member, r report) {
	t := s.term(m, r)
	switch r.Kind {
	case reportLead:
		t.led, m.term = r.At, t
		s.noteElection(m)
	case reportYes:
		t.From, t.To = r.From, r.To
		m.until = r.At.Add(r.Left)
	case reportNo:
		m.until = 0
	case reportReturned:
		t.Returned, t.reason = r.At, r.Reason
		m.term = nil
	case reportReleased:
		t.Released = true
	}
}

// term returns the term that a report is about. A second span of one term is one more: the check looks for that.
func (s *stage) term(m *member, r report) *term {
	pid := m.process.pid()
	for _, t := range slices.Backward(s.terms) {
		if t.PID == pid && t.Token == r.Token && (r.Kind != reportYes || t.From == 0 || t.From == r.From) {
			return t
		}
	}
	t := &term{Trust: Trust{Node: m.id, PID: pid, Token: r.Token}}
	s.terms = append(s.terms, t)
	return t
}

// hearGone takes in the end of a process.
func (s *stage) hearGone(m *member, err error) {
	if !m.leaving && s.failed == nil {
		s.failed = fmt.Errorf("demo: %s ended by itself: %w", m.id, cmp.Or(err, errNoReason))
	}
	m.ended(guard.Now())
}

var errNoReason = errors.New("it said nothing")

// leader returns the node under which work runs with the highest token, nil if there is none.
func (s *stage) leader() *member {
	var leader *member
	for _, m := range s.members {
		if m.term != nil && (leader == nil || m.term.Token > leader.term.Token) {
			leader = m
		}
	}
	return leader
}

// successor returns the node that leads with a token above the given one, nil if there is none.
func (s *stage) successor(token uint64) *member {
	if m := s.leader(); m != nil && m.term.Token > token {
		return m
	}
	return nil
}

// present returns the nodes that take part, but for one.
func (s *stage) present(except *member) []*member {
	var others []*member
	for _, m := range s.members {
		if m != except && m.present() {
			others = append(others, m)
		}
	}
	return others
}

// spans returns what is known of trust.
func (s *stage) spans() []Trust {
	var spans []Trust
	for _, t := range s.terms {
		if t.From != 0 {
			spans = append(spans, t.Trust)
		}
	}
	return spans
}
