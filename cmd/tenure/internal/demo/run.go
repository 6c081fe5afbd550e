package demo

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// Run runs a demo until its time is over or ctx ends. Then it returns, with the cause of ctx's end, what was seen so
// far. When it returns no process of the demo is left.
func Run(ctx context.Context, o Options) (*Result, error) {
	store, closeStore, err := o.Open(ctx, o.Store)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closeStore() }()
	if _, err := tenure.New(store, o.Election, candidacy("node-1", o.TTL)...); err != nil {
		return nil, err
	}
	if err := forget(ctx, store, o); err != nil {
		return nil, err
	}
	// What the kernel does for a node when the demo dies, it does when the thread dies that started the node.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := newStage(o, store)
	defer close(s.closed)
	err = s.play(ctx)
	s.close()
	return s.result(), err
}

// forget empties the election's record, unless somebody else uses it.
func forget(ctx context.Context, store tenure.Store, o Options) error {
	err := tenure.Forget(ctx, store, o.Election)
	if errors.Is(err, tenure.ErrHeld) {
		return fmt.Errorf("%w: does another demo run on this store? Give it an --election of its own", err)
	}
	return err
}

// play starts the nodes and torments their leaders until the time is over.
func (s *stage) play(ctx context.Context) error {
	s.began = guard.Now()
	s.Display.Begin(s.Options)
	for _, m := range s.members {
		s.startMember(m)
	}
	s.begin(Event{What: "start", Outcome: plural(s.Nodes, "node")})
	s.follow(ctx, s.began, 0, nil)
	d := deck{of: s.Faults, random: s.random}
	// A demo that does nothing shows nothing, however short it is.
	for s.goesOn(ctx) && (s.now() < s.For || s.done == 0) {
		s.pass(ctx, min(s.calm(), s.For-s.now()))
		if s.now() < s.For || s.done == 0 {
			s.torment(ctx, &d)
		}
	}
	if s.failed != nil {
		return s.failed
	}
	return context.Cause(ctx)
}

// torment does the next thing to the nodes.
func (s *stage) torment(ctx context.Context, d *deck) {
	if !s.ready(ctx) {
		return
	}
	fault, ok := d.deal(s.fits)
	if !ok && s.done == 0 {
		fault, ok = d.deal(s.possible)
	}
	if ok {
		s.done++
		faults[fault](s, ctx)
	}
}

// goesOn reports whether there is nothing yet that ends the demo before its time.
func (s *stage) goesOn(ctx context.Context) bool { return s.failed == nil && ctx.Err() == nil }

// calm is how long leaders are left in peace.
func (s *stage) calm() time.Duration { return s.TTL/4 + s.upTo(s.TTL/4) }

// upTo is a random duration.
func (s *stage) upTo(d time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(d) + 1))
}

// ready waits for a leader.
func (s *stage) ready(ctx context.Context) bool {
	led := s.until(ctx, s.patience(), func() bool { m := s.leader(); return m != nil && m.present() })
	s.impatient(ctx, led)
	return led
}

// impatient fails the demo if something did not come in time.
func (s *stage) impatient(ctx context.Context, came bool) {
	if !came && s.goesOn(ctx) {
		s.failed = fmt.Errorf("demo: nobody led for %v%s", s.patience(), s.complaint())
	}
}

func (s *stage) complaint() string {
	if s.failures == 0 {
		return ""
	}
	return fmt.Sprintf("; calls to the store failed %s, the last: %s", plural(s.failures, "time"), s.lastFailure)
}

// possible reports whether a fault makes sense now.
func (s *stage) possible(f Fault) bool {
	if s.Nodes == 1 {
		return f.worksAlone()
	}
	return len(s.present(s.leader())) > 0 // somebody is there to follow
}

// fits reports whether a fault is possible in the time that is left.
func (s *stage) fits(f Fault) bool {
	switch left := s.For - s.now(); f {
	case Freeze:
		return s.possible(f) && left > shortestFreeze(s.TTL)
	case Blink:
		return s.possible(f) && left > s.TTL
	}
	return s.possible(f)
}

// close ends all nodes, orderly if they can, and takes in what they still report.
func (s *stage) close() {
	// The demo's own end must not keep it from clearing up.
	ctx := context.Background()
	err := s.failed
	s.failed, s.closing = nil, true
	leader := s.leader()
	for _, m := range s.members {
		if m != leader {
			s.dismiss(m)
		}
	}
	s.until(ctx, s.TTL, func() bool { return s.launched <= 1 }) // so that nobody takes the leader's seat at the end
	if leader != nil {
		s.dismiss(leader)
	}
	if !s.until(ctx, s.TTL+3*time.Second, s.empty) {
		s.killAll()
		s.until(ctx, s.patience(), s.empty)
	}
	s.failed = err
	s.Display.End()
	if s.Remove == "" {
		ctx, cancel := context.WithTimeout(ctx, 2*s.TTL+5*time.Second)
		defer cancel()
		_ = tenure.Forget(ctx, s.store, s.Election) // at worst it stays
	}
}

func (s *stage) killAll() {
	for _, m := range s.members {
		if m.process != nil {
			_ = m.process.kill() // it may be gone already
		}
	}
}

// dismiss asks a node to leave.
func (s *stage) dismiss(m *member) {
	m.restartAt = 0
	if m.process == nil {
		return
	}
	m.leaving = true
	if m.frozen {
		s.thaw(m)
	}
	if err := m.process.stop(); err != nil {
		_ = m.process.kill()
	}
}

// empty reports whether no process is left.
func (s *stage) empty() bool { return s.launched == 0 }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
