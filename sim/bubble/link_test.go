package bubble

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

var errLost = errors.New("nothing was heard of the call")

// link is one candidate's way to the store, with the faults of a network and of a client library.
type link struct {
	store *memory.Store
	ttl   time.Duration
	cut   atomic.Bool // a partition: every call hangs, and nothing is pushed

	mu      sync.Mutex
	random  *rand.Rand
	trouble float64 // the share of calls that something happens to
}

// fate is what happens to one call.
type fate struct {
	before, after     time.Duration // how late request and reply arrive
	lostRequest       bool
	lostReply, repeat bool
}

func (l *link) draw() fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := fate{before: l.upTo(l.ttl / 1000), after: l.upTo(l.ttl / 1000)}
	if l.random.Float64() >= l.trouble {
		return f
	}
	switch l.random.IntN(5) {
	case 0:
		f.lostRequest = true
	case 1:
		f.lostReply = true
	case 2:
		f.after = l.upTo(2 * l.ttl)
	case 3:
		f.before = l.upTo(2 * l.ttl)
	case 4:
		f.repeat = true
	}
	return f
}

func (l *link) upTo(d time.Duration) time.Duration { return time.Duration(l.random.Int64N(int64(d))) }

func (l *link) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	return l.call(ctx, func(ctx context.Context) (tenure.Snapshot, error) { return l.store.Load(ctx, election) })
}

func (l *link) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	return l.call(ctx, func(ctx context.Context) (tenure.Snapshot, error) {
		return l.store.CompareAndSwap(ctx, election, old, r)
	})
}

// call makes a call meet its fate. A request that is under way arrives, whether or not its sender still waits.
func (l *link) call(
	ctx context.Context, do func(context.Context) (tenure.Snapshot, error),
) (tenure.Snapshot, error) {
	f := l.draw()
	if f.lostRequest || l.cut.Load() {
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
		s, err := do(context.Background())
		if f.repeat && err == nil {
			s, err = do(context.Background())
		}
		time.Sleep(f.after)
		if !f.lostReply && !l.cut.Load() {
			replies <- reply{s, err}
		}
	}()
	select {
	case r := <-replies:
		return r.snapshot, r.err
	case <-ctx.Done():
		return tenure.Snapshot{}, errLost
	}
}

// pushing is a link whose store pushes. A partition silences the watch without telling.
type pushing struct{ *link }

func (p pushing) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if p.cut.Load() {
		<-ctx.Done()
		return nil, errLost
	}
	return p.store.Watch(ctx, election, func(s tenure.Snapshot, err error) {
		if !p.cut.Load() {
			deliver(s, err)
		}
	})
}

// clocks are a candidate's own: fast or slow, and moved by hand.
type clocks struct {
	origin          time.Time
	rate            float64
	asleep, stepped atomic.Int64
}

func (c *clocks) read() (mono, wall time.Duration) {
	now := time.Duration(float64(time.Since(c.origin)) * c.rate)
	return now - time.Duration(c.asleep.Load()), now + time.Duration(c.stepped.Load())
}
