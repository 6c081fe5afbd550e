package kubernetes

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/feed"
)

// forbiddenPause is how soon a watch is asked for again that is not allowed: nothing changes that soon.
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
		Read: s.follow, Ended: restAfter, Closed: errClosed,
		Explain: func(election string, err error) error {
			return fmt.Errorf("kubernetes: watching %q: %w", election, err)
		},
	})
}

// restAfter waits after a refusal.
func restAfter(ctx context.Context, err error) {
	if apierrors.IsForbidden(err) {
		pass(ctx, forbiddenPause)
	}
}
