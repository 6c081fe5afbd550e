package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tenure-go/tenure"
)

// Watch implements [tenure.Watcher], as [Store.Watch] does. The loss of the lock of a term that is led through this
// store is pushed at once.
func (a *Advisory) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	w := &lockedWatch{store: a, election: election, deliver: deliver}
	a.mu.Lock()
	a.watches[election] = append(a.watches[election], w)
	a.mu.Unlock()
	inner, err := a.table.Watch(ctx, election, w.tell)
	if err != nil {
		a.unwatch(w)
		return nil, err
	}
	return func() {
		inner()
		a.unwatch(w)
		w.stop()
	}, nil
}

func (a *Advisory) unwatch(w *lockedWatch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := slices.DeleteFunc(a.watches[w.election], func(other *lockedWatch) bool { return other == w })
	if len(left) == 0 {
		delete(a.watches, w.election)
		return
	}
	a.watches[w.election] = left
}

// lockedWatch is one call of Watch. What comes from the table and what comes from the lock is told one after the other.
type lockedWatch struct {
	store    *Advisory
	election string
	deliver  func(tenure.Snapshot, error)

	mu      sync.Mutex // held while deliver runs
	stopped bool
	last    tenure.Snapshot // that was told
}

func (w *lockedWatch) tell(snapshot tenure.Snapshot, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if err == nil {
		snapshot = w.store.see(w.election, snapshot)
		w.last = snapshot
		w.last.Record = snapshot.Record.Clone()
	}
	w.deliver(snapshot, err)
}

// revoke tells that the lock of a term is lost, with the newest state of it.
func (w *lockedWatch) revoke(t term, last tenure.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if termOf(w.last.Record) == t && !follows(last, w.last) {
		last = w.last
	}
	if w.stopped || termOf(last.Record) != t {
		return
	}
	last.Record = last.Record.Clone()
	last.Revoked = true
	w.deliver(last, nil)
}

// stop returns once nothing is delivered any more.
func (w *lockedWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

// see takes note of a state, and adds to it what is known of the term's lock.
func (a *Advisory) see(election string, s tenure.Snapshot) tenure.Snapshot {
	a.refused.saw(election, s)
	a.mu.Lock()
	defer a.mu.Unlock()
	lost, known := a.lost[election]
	s.Revoked = known && lost == termOf(s.Record)
	return s
}

// drop takes a session out of use. If its lock was lost, and not given back, the leader is told.
func (a *Advisory) drop(s *session, why error) {
	a.mu.Lock()
	current, t, last := a.held[s.election] == s, s.term, s.last
	if current {
		delete(a.held, s.election)
	}
	a.mu.Unlock()
	if current && !errors.Is(why, errReleased) {
		a.lose(s.election, t, last)
	}
}

// revoke is for a term that may have begun, but without its lock.
func (a *Advisory) revoke(election string, t term) { a.lose(election, t, tenure.Snapshot{}) }

func (a *Advisory) lose(election string, t term, last tenure.Snapshot) {
	a.mu.Lock()
	a.lost[election] = t
	all := slices.Clone(a.watches[election])
	a.mu.Unlock()
	for _, w := range all {
		w.revoke(t, last)
	}
}
