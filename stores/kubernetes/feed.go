package kubernetes

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/feed"
)

// forbiddenPause is how soon a watch is asked for again that has not been allowed for longer than that: nothing changes
// so soon.
const forbiddenPause = 30 * time.Second

// entry is a Lease as the watch brought it, nil where there is none.
type entry struct{ lease *coordinationv1.Lease }

// Snapshot implements [feed.Entry].
func (e entry) Snapshot(floor uint64) (tenure.Snapshot, error) {
	if e.lease == nil {
		return tenure.Snapshot{Record: tenure.Record{Token: floor}}, nil
	}
	return snapshotOf(e.lease, floor)
}

// newFeeds returns what serves all watches of a store.
func newFeeds(s *Store) *feed.Feeds[entry] {
	return feed.New(feed.Config[entry]{
		Read: s.follow, Ended: s.rest, Closed: errClosed,
		Explain: func(election string, err error) error {
			return fmt.Errorf("kubernetes: watching %q: %w", election, err)
		},
	})
}

// rest waits after a refusal for as long as there have been refusals already. An API server that has just started can
// forbid for a moment what it allows, and what is missing for good is asked for ever more rarely.
func (s *Store) rest(ctx context.Context, err error) {
	if apierrors.IsForbidden(err) {
		pass(ctx, s.refused.pause(time.Now()))
	}
}

// refusal is the time since which a watch is not allowed, zero if one stood last. Its methods are safe for concurrent
// use.
type refusal struct {
	mu    sync.Mutex
	since time.Time
}

// pause returns how soon a watch is asked for again that is refused now.
func (r *refusal) pause(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		r.since = now
	}
	return min(now.Sub(r.since), forbiddenPause)
}

func (r *refusal) over() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = time.Time{}
}
