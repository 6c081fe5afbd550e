package bubble

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

var (
	errLost    = errors.New("nothing was heard of the call")
	errRefused = errors.New("the store refused the call")
)

// shelf is the store, and what it held before, which replicas that lag still show.
type shelf struct {
	*memory.Store

	tell func(format string, args ...any)

	mu   sync.Mutex
	past []tenure.Snapshot
}

const remembered = 8

func (s *shelf) keep(now tenure.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.past = append(s.past, now); len(s.past) > remembered {
		s.past = s.past[1:]
	}
}

// stale returns a state of the past.
func (s *shelf) stale(d *dice) (tenure.Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.past) == 0 {
		return tenure.Snapshot{}, false
	}
	return s.past[d.one(len(s.past))], true
}

// link is one process's way to the store, with the faults of a network, of replicas, and of a client library.
type link struct {
	store *shelf
	dice  *dice
	ttl   time.Duration
	awake func() // returns when the machine is; nil: it always is

	cut     atomic.Bool  // a partition: every call hangs, and nothing is pushed
	healed  atomic.Bool  // nothing happens any more
	trouble float64      // the share of calls that something happens to
	inside  atomic.Int32 // calls under way
}

// fate is what happens to one call.
type fate struct {
	before, after time.Duration // how late request and reply arrive
	lostRequest   bool
	lostReply     bool
	repeat        bool
	stale         bool  // a read shows the past
	refusal       error // in place of the call
	deaf          bool  // the end of the context is ignored
	goexit        bool  // the client library ends the goroutine
}

func (l *link) draw() fate {
	f := fate{before: l.dice.upTo(l.ttl / 1000), after: l.dice.upTo(l.ttl / 1000)}
	if l.healed.Load() || !l.dice.chance(l.trouble) {
		return f
	}
	switch l.dice.one(10) {
	case 0:
		f.lostRequest = true
	case 1:
		f.lostReply = true
	case 2:
		f.after = l.dice.upTo(2 * l.ttl)
	case 3:
		f.before = l.dice.upTo(2 * l.ttl)
	case 4:
		f.repeat = true
	case 5:
		f.stale = true
	case 6:
		f.refusal = tenure.Permanent(errRefused)
	case 7:
		f.refusal = tenure.NotApplied(errRefused, l.dice.upTo(l.ttl))
	case 8:
		f.deaf, f.after = true, l.dice.upTo(3*l.ttl)
	case 9:
		f.goexit = true
	}
	return f
}

func (l *link) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	return l.call(ctx, l.draw(), func(f fate) (tenure.Snapshot, error) {
		if past, ok := l.store.stale(l.dice); ok && f.stale {
			return past, nil
		}
		return l.store.Load(context.Background(), election)
	})
}

func (l *link) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	return l.call(ctx, l.draw(), func(f fate) (s tenure.Snapshot, err error) {
		for range 2 {
			s, err = l.store.CompareAndSwap(context.Background(), election, old, r)
			l.store.tell("swap for %q of %d/%d: %v", r.Leader, r.Token, r.Renewals, err)
			if err == nil {
				l.store.keep(s)
			}
			if !f.repeat {
				break
			}
		}
		return s, err
	})
}

// call makes a call meet its fate. A request that is under way arrives, whether or not its sender still waits.
func (l *link) call(
	ctx context.Context, f fate, do func(fate) (tenure.Snapshot, error),
) (tenure.Snapshot, error) {
	l.inside.Add(1)
	defer l.inside.Add(-1)
	l.awaken()
	switch {
	case f.goexit:
		runtime.Goexit()
	case f.refusal != nil:
		return tenure.Snapshot{}, f.refusal
	case f.lostRequest || l.cut.Load():
		<-ctx.Done()
		return tenure.Snapshot{}, errLost
	}
	type reply struct {
		snapshot tenure.Snapshot
		err      error
	}
	replies := make(chan reply, 1)
	go func() {
		time.Sleep(f.before)
		s, err := do(f)
		time.Sleep(f.after)
		if !f.lostReply && !l.cut.Load() {
			replies <- reply{s, err}
		}
	}()
	if f.deaf {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.Background(), 4*l.ttl)
		defer cancel()
	}
	select {
	case r := <-replies:
		l.awaken()
		return r.snapshot, r.err
	case <-ctx.Done():
		l.awaken()
		return tenure.Snapshot{}, errLost
	}
}

// awaken holds a call up while the machine is suspended.
func (l *link) awaken() {
	if l.awake != nil {
		l.awake()
	}
}

// pushing is a link whose store pushes, some of it late, and some of it again. A partition silences the watch without
// telling.
type pushing struct{ *link }

func (p pushing) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	p.awaken()
	switch f := p.draw(); {
	case f.goexit:
		runtime.Goexit()
	case f.refusal != nil:
		return nil, f.refusal
	case f.lostRequest || p.cut.Load():
		<-ctx.Done()
		return nil, errLost
	}
	w := &delivery{link: p.link, deliver: deliver}
	cancel, err := p.store.Watch(ctx, election, w.take)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		cancel()
		w.end()
	}), nil
}

// delivery is one watch.
type delivery struct {
	*link

	mu      sync.Mutex // deliver is not called concurrently with itself
	over    bool
	deliver func(tenure.Snapshot, error)
}

func (w *delivery) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

func (w *delivery) take(s tenure.Snapshot, err error) {
	if w.cut.Load() {
		return
	}
	if past, ok := w.store.stale(w.dice); ok && w.troubled() {
		s = past
	}
	after := time.Duration(0)
	if w.troubled() {
		after = w.dice.upTo(w.ttl)
	}
	go func() {
		time.Sleep(after)
		w.awaken() // a machine that is suspended receives nothing
		w.pass(s, err)
	}()
}

func (w *delivery) pass(s tenure.Snapshot, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.deliver(s, err)
	}
}

// troubled reports whether something happens to a push.
func (w *delivery) troubled() bool { return !w.healed.Load() && w.dice.chance(w.trouble/4) }
