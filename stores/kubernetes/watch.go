package kubernetes

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
)

// Watch implements [tenure.Watcher]. A change is delivered as soon as the API server sends it, whoever made it.
//
// All watches of a Store share one watch at the API server and two goroutines, so a deliver function that blocks
// against the rules holds up the others. As long as one election is watched the API server sends that Lease alone, else
// all of the namespace. A watch is told once if the API server's breaks, or is not allowed, and again with the current
// state when another one stands; the end that the API server sets to every watch after some minutes is no interruption.
// The last thing that a watch is told is [tenure.ErrPermanent], when the store is closed.
func (s *Store) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := s.enter(ctx, election); err != nil {
		return nil, fmt.Errorf("kubernetes: watching %q: %w", election, err)
	}
	return s.feeds.Watch(election, leaseName(election), deliver)
}
