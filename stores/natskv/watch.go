package natskv

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/tenure-go/tenure"
)

// Watch implements [tenure.Watcher]. A change is delivered as soon as the server sends it, by whichever process it was
// made. What is delivered comes from one replica, which may be a moment behind.
//
// All watches of a Store share one consumer at the server and two goroutines, so a deliver function that blocks against
// the rules holds up the others. Each watch is told once if the connection is lost, the server falls silent or the
// consumer is gone, and again with the current state when another consumer stands. The last thing that a watch is told
// is [tenure.ErrPermanent], when the store is closed.
func (s *Store) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := s.enter(ctx, election); err != nil {
		return nil, fmt.Errorf("natskv: watching %q: %w", election, err)
	}
	return s.feeds.Watch(election, key(election), deliver)
}

// revive has the client look for another server if this one does not answer. A connection that is not ours is left to
// the pings of its owner.
func (s *Store) revive(ctx context.Context, ended error) {
	if !s.owned || !errors.Is(ended, errSilent) || s.conn.Status() != nats.CONNECTED {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.heartbeat)
	defer cancel()
	if s.conn.FlushWithContext(ctx) != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		_ = s.conn.ForceReconnect() // fails only if the connection is closed
	}
}
