package natskv

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/feed"
)

// newFeeds returns what serves all watches of a store.
func newFeeds(s *Store) *feed.Feeds[entry] {
	return feed.New(feed.Config[entry]{
		Read: s.read, Ended: s.revive, Closed: errClosed,
		Explain: func(election string, err error) error { return fmt.Errorf("natskv: watching %q: %w", election, err) },
	})
}

// read takes in what one consumer brings until that ends.
func (s *Store) read(ctx context.Context, to *feed.Feed[entry]) error {
	c, err := s.promptly(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	held := make(map[string]entry)
	if err := c.catchUp(ctx, func(e entry) { held[e.key] = e }); err != nil {
		return err
	}
	floor, _ := held[floorKey].floor() // a damaged one is left to those who create records
	to.Begin(held, floor)
	for {
		e, err := c.next(ctx)
		if err != nil {
			return err
		}
		if e.sequence != 0 {
			change(to, e)
		}
	}
}

// promptly makes a consumer. A server that hangs meanwhile is not waited for longer than one that falls silent later.
func (s *Store) promptly(ctx context.Context) (*consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, max(s.config.heartbeat*5/2, time.Second))
	defer cancel()
	return s.consume(ctx, false)
}

func change(to *feed.Feed[entry], e entry) {
	if e.key == floorKey {
		if floor, err := e.floor(); err == nil {
			to.Raise(floor)
		}
	}
	to.Change(e.key, e)
}
