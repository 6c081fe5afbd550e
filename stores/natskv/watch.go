package natskv

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/tenure-go/tenure"
)

// watch is one caller of Watch.
type watch struct {
	election string
	key      string

	// deliver is called, and the rest changed, under mu. So stop waits for a delivery that is under way.
	mu      sync.Mutex
	deliver func(tenure.Snapshot, error)
	stopped bool
	said    said
}

// said is what a watch was told last, so that it is not told twice.
type said struct {
	anything bool
	version  tenure.Version
	floor    uint64
	failed   bool
	closed   bool
}

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
	w := &watch{election: election, key: key(election), deliver: deliver}
	if !s.add(w) {
		return nil, fmt.Errorf("natskv: watching %q: %w", election, errClosed)
	}
	return func() { s.remove(w) }, nil
}

// add has the watch served, by a feed that begins with the first of them.
func (s *Store) add(w *watch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.feed == nil {
		s.feed = newFeed(s)
		s.ended.Go(s.feed.listen)
		s.ended.Go(s.feed.serve)
	}
	s.feed.add(w)
	return true
}

// remove ends a watch, and with the last of them the feed.
func (s *Store) remove(w *watch) {
	s.mu.Lock()
	if s.feed != nil && s.feed.remove(w) == 0 {
		s.feed.cancel()
		s.feed = nil
	}
	s.mu.Unlock()
	w.stop()
}

// stop returns when nothing is delivered any more.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

// tell delivers what was not delivered last.
func (w *watch) tell(snapshot tenure.Snapshot, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := said{anything: true, failed: err != nil, closed: errors.Is(err, errClosed)}
	if err == nil {
		now.version, now.floor = snapshot.Version, snapshot.Record.Token
	} else {
		err = fmt.Errorf("natskv: watching %q: %w", w.election, err)
	}
	if !w.stopped && now != w.said {
		w.said = now
		w.deliver(snapshot, err)
	}
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
