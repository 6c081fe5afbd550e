package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenure-go/tenure"
)

// watch is one caller of Watch. All its fields belong to the store's mutex.
type watch struct {
	election string
	deliver  func(tenure.Snapshot, error)
	due      bool // in the store's queue
	stopped  bool
}

// Watch implements [tenure.Watcher]. Deliveries come from one goroutine for the whole store, so a deliver function
// that blocks against the rules holds up all watches, but no writer. A watch is never interrupted; the only error
// that it delivers is [tenure.ErrPermanent], as the last thing, when the store is closed.
func (s *Store) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("memory: watching %q: %w", election, err)
	}
	defer s.mu.Unlock()
	w := &watch{election: election, deliver: deliver}
	seat := s.seat(election)
	seat.watches = append(seat.watches, w)
	s.enqueue(w)
	return func() { s.stop(w) }, nil
}

func (s *Store) stop(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seat := s.seats[w.election]; seat != nil && !w.stopped {
		seat.watches = slices.DeleteFunc(seat.watches, func(other *watch) bool { return other == w })
		s.drop(w.election)
	}
	w.stopped = true
	for s.active == w {
		s.delivered.Wait()
	}
}

func (s *Store) notify(seat *seat) {
	for _, w := range seat.watches {
		s.enqueue(w)
	}
}

// enqueue has the current state delivered to w once, however often it changes before its turn comes.
func (s *Store) enqueue(w *watch) {
	if w.due {
		return
	}
	w.due = true
	s.due = append(s.due, w)
	if !s.delivering {
		s.delivering = true
		go s.deliverDue()
	}
}

// deliverDue serves the queue and ends when it is empty. A goroutine that waited for work instead would have to be
// ended by somebody, and would count as blocked for ever in a test that forgets to.
func (s *Store) deliverDue() {
	for w := s.next(); w != nil; w = s.next() {
		w.deliver(s.current(w))
	}
}

// next ends the active delivery and begins that to the first watch in the queue that still runs, nil if none.
func (s *Store) next() *watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = nil
	for len(s.due) > 0 && s.active == nil {
		w := s.due[0]
		s.due[0], s.due = nil, s.due[1:]
		w.due = false
		if !w.stopped {
			s.active = w
		}
	}
	if s.active == nil {
		s.due, s.delivering = nil, false
	}
	s.delivered.Broadcast()
	return s.active
}

func (s *Store) current(w *watch) (tenure.Snapshot, error) {
	s.mu.Lock()
	snapshot, closed := s.snapshot(w.election), s.closed
	s.mu.Unlock()
	if closed {
		return tenure.Snapshot{}, fmt.Errorf("memory: watching %q: %w", w.election, errClosed)
	}
	return isolated(snapshot), nil
}
