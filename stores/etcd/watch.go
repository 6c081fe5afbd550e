package etcd

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/feed"
)

// Watch implements [tenure.Watcher]. A change is delivered as soon as a member sends it, by whichever process it was
// made. What is delivered comes from one member, which may be a moment behind.
//
// All watches of a Store share one stream from one member and two goroutines, so a deliver function that blocks against
// the rules holds up the others. Each watch is told once if the stream is lost, and again with the current state when
// there is another. The last thing that a watch is told is [tenure.ErrPermanent], when the store is closed.
func (s *Store) Watch(
	_ context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := s.enter(election); err != nil {
		return nil, fmt.Errorf("etcd: watching %q: %w", election, err)
	}
	return s.feeds.Watch(election, s.names.key(election), deliver)
}

// read takes in what one stream brings until that ends: first what the keys hold, and then every change from the
// revision at which they were read, so that nothing is missed in between.
func (s *Store) read(ctx context.Context, to *feed.Feed[entry]) error {
	if err := s.usable(); err != nil {
		return err
	}
	held, revision, err := s.state(ctx)
	if err != nil {
		return err
	}
	w, err := s.stream(ctx, revision)
	if err != nil {
		return err
	}
	defer w.close()
	floor, _ := held[s.names.floor()].floor() // a damaged one is left to those who create records
	to.Begin(held, floor)
	for {
		changed, err := w.next()
		if err != nil {
			return s.failed(err)
		}
		for _, e := range changed {
			if e.key == s.names.floor() {
				if floor, err := e.floor(); err == nil {
					to.Raise(floor)
				}
			}
			to.Change(e.key, e)
		}
	}
}

// state returns what all keys of the store hold, and the revision at which they do. A member that hangs is not waited
// for longer than one that falls silent later.
func (s *Store) state(ctx context.Context) (map[string]entry, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	entries, revision, err := s.all(ctx, s.names.prefix)
	if err != nil {
		return nil, 0, err
	}
	held := make(map[string]entry, len(entries))
	for _, e := range entries {
		held[e.key] = e
	}
	return held, revision, nil
}
