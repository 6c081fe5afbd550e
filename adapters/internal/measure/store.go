package measure

import (
	"context"
	"time"

	"github.com/tenure-go/tenure"
)

// The operations of a store, values of the label "operation".
const (
	OperationLoad = "load"
	OperationSwap = "compare_and_swap"
)

// Call is one call to a store.
type Call struct {
	Operation string
	Election  string
	Record    *tenure.Record // that of a compare-and-swap
}

// Tap is told of everything that goes through a store.
type Tap interface {
	// Begin is called before a call, with its context, and returns what is called after it.
	Begin(ctx context.Context, call Call) (context.Context, func(tenure.Snapshot, error))
	// Seen is called with every state that the store pushes.
	Seen(election string, s tenure.Snapshot)
}

// Wrap returns a store that tells tap what goes through it. It watches if, and only if, the inner one does, since
// candidates time themselves by that. Of the other optional interfaces it passes on those that a candidate uses.
func Wrap(inner tenure.Store, tap Tap) tenure.Store {
	s := Store{inner, tap}
	if w, ok := inner.(tenure.Watcher); ok {
		return WatchingStore{s, w}
	}
	return s
}

// Store is a wrapped store.
type Store struct {
	inner tenure.Store
	tap   Tap
}

// Load implements [tenure.Store].
func (s Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	ctx, end := s.tap.Begin(ctx, Call{Operation: OperationLoad, Election: election})
	snapshot, err := s.inner.Load(ctx, election)
	end(snapshot, err)
	return snapshot, err
}

// CompareAndSwap implements [tenure.Store].
func (s Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	ctx, end := s.tap.Begin(ctx, Call{Operation: OperationSwap, Election: election, Record: &record})
	snapshot, err := s.inner.CompareAndSwap(ctx, election, old, record)
	end(snapshot, err)
	return snapshot, err
}

// Guarantee implements [tenure.Guarantor] as far as the inner store does.
func (s Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if g, ok := s.inner.(tenure.Guarantor); ok {
		return g.Guarantee(ctx)
	}
	return tenure.Guarantee{}, nil
}

// TTLUnit implements [tenure.TTLUnit] as far as the inner store does.
func (s Store) TTLUnit() time.Duration {
	if u, ok := s.inner.(tenure.TTLUnit); ok {
		return u.TTLUnit()
	}
	return time.Millisecond
}

// Unwrap returns the inner store.
func (s Store) Unwrap() tenure.Store { return s.inner }

// WatchingStore is a wrapped store that watches.
type WatchingStore struct {
	Store
	watcher tenure.Watcher
}

// Watch implements [tenure.Watcher].
func (s WatchingStore) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	return s.watcher.Watch(ctx, election, func(snapshot tenure.Snapshot, err error) {
		if err == nil {
			s.tap.Seen(election, snapshot)
		}
		deliver(snapshot, err)
	})
}

// Begin implements [Tap].
func (r *Recorder) Begin(ctx context.Context, call Call) (context.Context, func(tenure.Snapshot, error)) {
	begun := time.Now()
	return ctx, func(s tenure.Snapshot, err error) {
		r.called(call.Operation, time.Since(begun), err)
		if err == nil {
			r.Seen(call.Election, s)
		}
	}
}

func (r *Recorder) called(operation string, took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink.Observe(StoreCallDuration, took.Seconds(), operation, Outcome(err))
}
