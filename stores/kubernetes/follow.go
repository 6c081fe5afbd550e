package kubernetes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/tenure-go/tenure/internal/feed"
)

const (
	// listTimeout bounds the first answers, of an API server that hangs.
	listTimeout = 5 * time.Second
	// watchFor is when the API server ends a watch by itself, and twice that at most: spread, so that after the restart
	// of one of several API servers its clients find back to it.
	watchFor = 5 * time.Minute
	// shortest is how soon one watch follows another that ended well.
	shortest = time.Second
)

// follow reads Leases for a feed, first all of them and then every change, until that is interrupted. While one
// election is watched it reads no other.
func (s *Store) follow(ctx context.Context, to *feed.Feed[entry]) error {
	scope, _ := to.Only()
	from, err := s.first(ctx, scope, to)
	for err == nil {
		started := time.Now()
		from, err = s.changes(ctx, scope, from, to)
		if rest := shortest - time.Since(started); err == nil && rest > 0 && !pass(ctx, rest) {
			err = ctx.Err()
		}
	}
	return err
}

// pass reports whether ctx still stands after d.
func pass(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// first reads what there is, and returns the resource version from which a watch goes on.
func (s *Store) first(ctx context.Context, scope string, to *feed.Feed[entry]) (from string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	leases, err := s.list(ctx, scope)
	if err != nil {
		return "", err
	}
	floor, err := s.floor(ctx)
	if err != nil {
		return "", err
	}
	held := make(map[string]entry)
	for i := range leases.Items {
		lease := &leases.Items[i]
		held[lease.Name] = entry{lease}
		s.note(lease.Name, lease)
	}
	to.Begin(held, floor)
	return leases.ResourceVersion, nil
}

// changes reads one watch until the API server ends it, and returns from where the next one goes on.
func (s *Store) changes(ctx context.Context, scope, from string, to *feed.Feed[entry]) (string, error) {
	seconds := int64((watchFor + rand.N(watchFor)) / time.Second)
	ctx, asked := hear(ctx)
	w, err := s.leases.Watch(ctx, metav1.ListOptions{
		FieldSelector: selector(scope), ResourceVersion: from, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	})
	if err != nil {
		return "", s.failed(err, asked)
	}
	defer w.Stop()
	s.refused.over()
	for event := range w.ResultChan() {
		if event.Type == apiwatch.Error {
			return "", apierrors.FromObject(event.Object)
		}
		lease, ok := event.Object.(*coordinationv1.Lease)
		if !ok {
			return "", fmt.Errorf("the watch brought a %T", event.Object)
		}
		from = lease.ResourceVersion
		if event.Type == apiwatch.Bookmark {
			continue
		}
		if err := s.change(ctx, lease, event.Type == apiwatch.Deleted, to); err != nil {
			return "", err
		}
	}
	return from, ctx.Err()
}

// change gives the feed a change. Where a record is gone the floor counts, which was raised before it was pruned.
func (s *Store) change(ctx context.Context, lease *coordinationv1.Lease, gone bool, to *feed.Feed[entry]) error {
	if !gone {
		s.note(lease.Name, lease)
		to.Change(lease.Name, entry{lease})
		return nil
	}
	floor, err := s.floor(ctx)
	if err != nil {
		return err
	}
	to.Raise(floor)
	to.Change(lease.Name, entry{})
	return nil
}
