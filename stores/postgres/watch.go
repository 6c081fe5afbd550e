package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/tenure-go/tenure"
)

// Watch implements [tenure.Watcher]. One goroutine and one connection serve all watches of a store, from the first
// Watch to Close. What is not told by a notification, renewals if nothing else is configured, is found by a poll of all
// elections together.
func (s *Store) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := tenure.CheckElection(election); err != nil {
		return nil, fmt.Errorf("postgres: watching: %w", tenure.Permanent(err))
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("postgres: watching %q: %w", election, err)
	}
	w := &watch{deliver: deliver, behind: true}
	if !s.hub.add(election, w) {
		return nil, fmt.Errorf("postgres: watching %q: %w", election, errClosed)
	}
	return func() { s.hub.remove(election, w) }, nil
}

// watch is one call of Watch.
type watch struct {
	deliver func(tenure.Snapshot, error)
	behind  bool // it gets the next state even if others have it already; guarded by the hub's mutex

	mu      sync.Mutex // held while deliver runs
	stopped bool
}

func (w *watch) tell(snapshot tenure.Snapshot, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		snapshot.Record = snapshot.Record.Clone()
		w.deliver(snapshot, err)
	}
}

// stop returns once nothing is delivered any more.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}
