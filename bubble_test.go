package tenure_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// Most tests run in a bubble of testing/synctest: time is exact there, and passes only while everybody waits.

const (
	ttl   = 10 * time.Second
	drain = ttl / 5
	trust = ttl*99/100 - time.Microsecond - drain // a leader's margin: the clock error and the clocks' grain
	wait  = ttl*101/100 + time.Microsecond        // a follower's
	name  = "billing"
)

var errOutage = errors.New("the store is away")

// bubble runs test in a bubble of its own with a memory store.
func bubble(t *testing.T, test func(t *testing.T, store *memory.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		test(t, store)
		if err := store.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
}

// diary keeps the events of one candidate.
type diary struct {
	mu     sync.Mutex
	events []tenure.Event
}

func (d *diary) write(e tenure.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
}

// find returns the first event of a kind.
func (d *diary) find(kind tenure.EventKind) (tenure.Event, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.events {
		if e.Kind == kind {
			return e, true
		}
	}
	return tenure.Event{}, false
}

func (d *diary) count(kind tenure.EventKind) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, e := range d.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// candidate makes a candidate with a diary.
func candidate(t *testing.T, store tenure.Store, id string, options ...tenure.Option) (*tenure.Candidate, *diary) {
	t.Helper()
	d := &diary{}
	options = append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(ttl), tenure.WithObserver(d.write)}, options...)
	c, err := tenure.New(store, name, options...)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return c, d
}

// start makes a candidate and has it stand in the background until the test ends.
func start(t *testing.T, store tenure.Store, id string, options ...tenure.Option) (*tenure.Candidate, *diary) {
	t.Helper()
	c, d := candidate(t, store, id, options...)
	if err := c.Start(t.Context()); err != nil {
		t.Fatalf("Start: %v", err)
	}
	synctest.Wait()
	return c, d
}

func stop(t *testing.T, candidates ...*tenure.Candidate) {
	t.Helper()
	for _, c := range candidates {
		if err := c.Stop(context.Background()); err != nil {
			t.Errorf("Stop of %s: %v", c.ID(), err)
		}
	}
}

// record loads the election's record.
func record(t *testing.T, store tenure.Store) tenure.Record {
	t.Helper()
	s, err := store.Load(context.Background(), name)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return s.Record
}

// expectLeader checks what each of the candidates says of itself.
func expectLeader(t *testing.T, leader *tenure.Candidate, others ...*tenure.Candidate) {
	t.Helper()
	if leader != nil && !leader.IsLeader() {
		t.Errorf("%s does not lead: %+v", leader.ID(), leader.Status().Decisions)
	}
	for _, c := range others {
		if c.IsLeader() {
			t.Errorf("%s leads, but should not", c.ID())
		}
	}
}

// away is a store that pushes nothing and can be made to fail, hang, or lose its record.
type away struct {
	tenure.Store
	down  atomic.Bool // every call fails at once
	hangs atomic.Bool // every call hangs until its context ends
	fault atomic.Pointer[error]
	calls atomic.Int64
}

func (a *away) check(ctx context.Context) error {
	a.calls.Add(1)
	if a.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if f := a.fault.Load(); f != nil {
		return *f
	}
	if a.down.Load() {
		return errOutage
	}
	return nil
}

func (a *away) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := a.check(ctx); err != nil {
		return tenure.Snapshot{}, err
	}
	return a.Store.Load(ctx, election)
}

func (a *away) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	if err := a.check(ctx); err != nil {
		return tenure.Snapshot{}, err
	}
	return a.Store.CompareAndSwap(ctx, election, old, r)
}

// clocks stand for those of a machine that is suspended, or whose wall clock is stepped.
type clocks struct {
	origin          time.Time
	asleep, stepped atomic.Int64 // nanoseconds that mono lags, and that wall is ahead
}

func newClocks() *clocks { return &clocks{origin: time.Now()} }

func (c *clocks) read() (mono, wall time.Duration) {
	now := time.Since(c.origin)
	return now - time.Duration(c.asleep.Load()), now + time.Duration(c.stepped.Load())
}

// jump moves each clock by so much at once.
func (c *clocks) jump(mono, wall time.Duration) {
	c.asleep.Add(int64(-mono))
	c.stepped.Add(int64(wall))
}

// late is a store whose writes can be held up: their callers hear nothing, and they land when they are let go.
type late struct {
	tenure.Store
	hold  atomic.Bool
	mu    sync.Mutex
	queue []func()
}

func (l *late) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	if !l.hold.Load() {
		return l.Store.CompareAndSwap(ctx, election, old, r)
	}
	l.mu.Lock()
	l.queue = append(l.queue, func() { _, _ = l.Store.CompareAndSwap(context.Background(), election, old, r) })
	l.mu.Unlock()
	<-ctx.Done()
	return tenure.Snapshot{}, ctx.Err()
}

func (l *late) land() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, write := range l.queue {
		write()
	}
	l.queue = nil
}
