package bench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// Calls counts what candidates ask of their stores.
type Calls struct {
	Loads, Accepted, Rejected, Failed int
}

// All is the number of calls.
func (c Calls) All() int { return c.Loads + c.Accepted + c.Rejected + c.Failed }

// trace notes what the candidates of one election ask of their stores, and what those push.
type trace struct {
	mu      sync.Mutex
	calls   map[int]*Calls // by candidate
	swaps   []swap         // accepted since the last reset
	vacant  map[int]time.Time
	flying  int
	touched time.Time // when a call last began or ended
}

// swap is one that was accepted.
type swap struct {
	candidate  int
	token      uint64
	vacates    bool
	sent, done time.Time
}

func newTrace() *trace {
	t := &trace{}
	t.reset()
	return t
}

// reset forgets everything but the calls under way.
func (t *trace) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls, t.swaps, t.vacant = map[int]*Calls{}, nil, map[int]time.Time{}
}

// of returns the calls of one candidate.
func (t *trace) of(candidate int) Calls {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.calls[candidate]; c != nil {
		return *c
	}
	return Calls{}
}

// all returns the calls of all candidates together.
func (t *trace) all() Calls {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum Calls
	for _, c := range t.calls {
		sum.Loads += c.Loads
		sum.Accepted += c.Accepted
		sum.Rejected += c.Rejected
		sum.Failed += c.Failed
	}
	return sum
}

// settle waits until no call is under way and none has been for the time given. It gives up after a while, since
// candidates that poll may never all be calm.
func (t *trace) settle(ctx context.Context, calm, patience time.Duration) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		pause := t.unsettled(calm)
		if pause <= 0 {
			return nil
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

// unsettled is how long it takes at least until the candidates have been calm.
func (t *trace) unsettled(calm time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flying > 0 {
		return calm
	}
	return time.Until(t.touched.Add(calm))
}

func (t *trace) began() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flying++
	t.touched = time.Now()
	return t.touched
}

func (t *trace) loaded(candidate int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended()
	if err != nil {
		t.count(candidate).Failed++
		return
	}
	t.count(candidate).Loads++
}

func (t *trace) swapped(s swap, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.done = t.ended()
	calls := t.count(s.candidate)
	switch {
	case err == nil:
		calls.Accepted++
		t.swaps = append(t.swaps, s)
		slices.SortFunc(t.swaps, func(a, b swap) int { return a.sent.Compare(b.sent) }) // replies may overtake each other
	case errors.Is(err, tenure.ErrConflict):
		calls.Rejected++
	default:
		calls.Failed++
	}
}

func (t *trace) ended() time.Time {
	t.flying--
	t.touched = time.Now()
	return t.touched
}

func (t *trace) count(candidate int) *Calls {
	if t.calls[candidate] == nil {
		t.calls[candidate] = new(Calls)
	}
	return t.calls[candidate]
}

// saw notes when a vacancy was first shown to a candidate.
func (t *trace) saw(candidate int, s tenure.Snapshot) {
	if !s.Record.Vacant() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, already := t.vacant[candidate]; !already {
		t.vacant[candidate] = time.Now()
	}
}

// traced returns a store of a candidate whose calls are noted.
func traced(store tenure.Store, t *trace, candidate int) tenure.Store {
	plain := &tracedStore{store, t, candidate}
	if watcher, ok := store.(tenure.Watcher); ok {
		return &tracedWatcher{plain, watcher}
	}
	return plain
}

type tracedStore struct {
	store     tenure.Store
	trace     *trace
	candidate int
}

func (s *tracedStore) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	s.trace.began()
	snapshot, err := s.store.Load(ctx, election)
	s.trace.loaded(s.candidate, err)
	if err == nil {
		s.trace.saw(s.candidate, snapshot)
	}
	return snapshot, err
}

func (s *tracedStore) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	note := swap{candidate: s.candidate, token: record.Token, vacates: record.Vacant(), sent: s.trace.began()}
	snapshot, err := s.store.CompareAndSwap(ctx, election, old, record)
	s.trace.swapped(note, err)
	return snapshot, err
}

// TTLUnit implements [tenure.TTLUnit].
func (s *tracedStore) TTLUnit() time.Duration {
	if u, ok := s.store.(tenure.TTLUnit); ok {
		return u.TTLUnit()
	}
	return time.Millisecond
}

type tracedWatcher struct {
	*tracedStore

	watcher tenure.Watcher
}

func (w *tracedWatcher) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	return w.watcher.Watch(ctx, election, func(s tenure.Snapshot, err error) {
		if err == nil {
			w.trace.saw(w.candidate, s)
		}
		deliver(s, err)
	})
}
