//go:build linux

package worker

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// counted counts what is asked of a store.
type counted struct {
	tenure.Store

	loads, swaps, watches, failed atomic.Uint64
}

// Load implements [tenure.Store].
func (c *counted) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	c.loads.Add(1)
	s, err := c.Store.Load(ctx, election)
	c.note(err)
	return s, err
}

// CompareAndSwap implements [tenure.Store].
func (c *counted) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	c.swaps.Add(1)
	s, err := c.Store.CompareAndSwap(ctx, election, old, record)
	c.note(err)
	return s, err
}

func (c *counted) note(err error) {
	if err != nil && !errors.Is(err, tenure.ErrConflict) {
		c.failed.Add(1)
	}
}

func (c *counted) requests() *history.Requests {
	return &history.Requests{
		Loads: c.loads.Load(), Swaps: c.swaps.Load(), Watches: c.watches.Load(), Failed: c.failed.Load(),
	}
}

// watched is a counted store that pushes.
type watched struct {
	*counted

	watcher tenure.Watcher
}

// Watch implements [tenure.Watcher].
func (w *watched) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (func(), error) {
	w.watches.Add(1)
	return w.watcher.Watch(ctx, election, deliver)
}

// count returns what counts, and the store to use, which pushes if the given one does.
func count(store, pushes tenure.Store) (*counted, tenure.Store) {
	c := &counted{Store: store}
	if watcher, ok := pushes.(tenure.Watcher); ok {
		return c, &watched{c, watcher}
	}
	return c, c
}

// blind is a store that compares, and then swaps without comparing, as one does that reads and writes in two steps.
type blind struct{ tenure.Store }

// CompareAndSwap implements [tenure.Store], badly.
func (b blind) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	s, err := b.Load(ctx, election)
	if err != nil || s.Version != old {
		return tenure.Snapshot{}, errors.Join(err, tenure.ErrConflict)
	}
	wait(ctx, record.TTL/8)
	for {
		if s, err = b.Load(ctx, election); err != nil {
			return s, err
		}
		s, err = b.Store.CompareAndSwap(ctx, election, s.Version, record)
		if !errors.Is(err, tenure.ErrConflict) {
			return s, err
		}
	}
}

// storm is a store of which everything is asked again and again.
type storm struct{ tenure.Store }

// Load implements [tenure.Store], at too high a cost.
func (s storm) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	for range 50 {
		if _, err := s.Store.Load(ctx, election); err != nil {
			break
		}
	}
	return s.Store.Load(ctx, election)
}

// CompareAndSwap implements [tenure.Store], at too high a cost.
func (s storm) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if _, err := s.Load(ctx, election); err != nil {
		return tenure.Snapshot{}, err
	}
	return s.Store.CompareAndSwap(ctx, election, old, record)
}
