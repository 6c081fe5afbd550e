package tenuretest

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// injection is a fault at work.
type injection struct {
	Fault
	left   int           // how many more calls it applies to; negative: any number
	healed chan struct{} // closed when it is over
	past   *sightings    // what a replica knows that stopped when the fault was injected
}

// applies reports whether the fault is about op, and not used up or healed.
func (in *injection) applies(op Op) bool {
	select {
	case <-in.healed:
		return false
	default:
		return in.ops&op != 0 && in.left != 0
	}
}

// elapse waits for d or until the fault is healed. It reports false if ctx ended before.
func (in *injection) elapse(ctx context.Context, d time.Duration) bool {
	var over <-chan time.Time
	if d != UntilHealed {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
	case <-in.healed:
	case <-ctx.Done():
		return false
	}
	return true
}

// sightings are the last known states of elections.
type sightings struct {
	mu        sync.Mutex
	snapshots map[string]tenure.Snapshot
}

func (s *sightings) see(election string, snapshot tenure.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshots[election] = apart(snapshot)
}

func (s *sightings) last(election string) (tenure.Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snapshot, ok := s.snapshots[election]
	return apart(snapshot), ok
}

func (s *sightings) copy() *sightings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sightings{snapshots: maps.Clone(s.snapshots)}
}
