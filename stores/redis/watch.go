package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenure-go/tenure"
)

// Watch implements [tenure.Watcher]. A change is delivered as soon as the server has passed it on, with the whole
// record, so that nobody has to read it.
//
// All watches of a Store share one subscription, that is one connection and two goroutines; in a Cluster it is one
// connection and one goroutine for each master that has a watched election. A deliver function that blocks against the
// rules holds up the others. Watch returns at once; what it sets up is set up, and restored after an interruption, in
// the background. The last thing that a watch is told is [tenure.ErrPermanent], when the store is closed.
func (s *Store) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := s.enter(ctx, election); err != nil {
		return nil, fmt.Errorf("redis: watching %q: %w", election, err)
	}
	w := &watch{election: election, deliver: deliver}
	if err := s.feed.add(w); err != nil {
		return nil, fmt.Errorf("redis: watching %q: %w", election, err)
	}
	return func() {
		s.feed.remove(w)
		w.end()
	}, nil
}

// watch is one caller of Watch.
type watch struct {
	election string

	// deliver is called, and all else changed, under mu. So stop waits for a delivery that is under way.
	mu      sync.Mutex
	deliver func(tenure.Snapshot, error)
	stopped bool
	line    *line // from which changes are passed on; nil before the current state was delivered
	said    said

	epoch atomic.Int64 // counts the interruptions
}

// said is what a watch was told last, so that it is not told twice.
type said struct {
	version tenure.Version
	floor   uint64
	failure string
	any     bool
}

func saying(s tenure.Snapshot) said {
	return said{any: true, version: s.Version, floor: s.Record.Token}
}

// claim is a watch that waits for the current state, unless another interruption comes in between.
type claim struct {
	watch *watch
	epoch int64
}

func (w *watch) claim() claim { return claim{w, w.epoch.Load()} }

// begin delivers the current state. From now on changes that arrive by the line are passed on.
func (c claim) begin(l *line, current tenure.Snapshot) {
	w := c.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch.Load() == c.epoch {
		w.line = l
		w.tell(current, nil)
	}
}

// change passes on a change that arrived by the line.
func (w *watch) change(l *line, s tenure.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.line == l {
		w.tell(s, nil)
	}
}

// interrupt delivers why nothing arrives any more. The next delivery will be the current state.
func (w *watch) interrupt(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = nil
	w.epoch.Add(1)
	w.tell(tenure.Snapshot{}, fmt.Errorf("redis: watching %q: %w", w.election, err))
}

// end returns when nothing is delivered any more.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

func (w *watch) tell(s tenure.Snapshot, err error) {
	now := saying(s)
	if err != nil {
		now = said{any: true, failure: err.Error()}
	}
	if w.stopped || now == w.said {
		return
	}
	w.said = now
	s.Record = s.Record.Clone() // several watches are told the same
	w.deliver(s, err)
}

// parse reads what the scripts publish: a version and a record, or nothing and the floor of a record that was pruned.
func (s *Store) parse(election, message string) (tenure.Snapshot, error) {
	version, text, _ := strings.Cut(message, "\n")
	if version == "" {
		return s.missing(election, text)
	}
	return s.decode(election, version, text)
}
