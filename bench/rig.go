package bench

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

// rig is a bed whose server runs.
type rig struct {
	bed    Bed
	server Server
	pushes bool   // whether its stores have a watch
	toll   Counts // what asking for the counts adds to them
	names  int    // elections so far
}

func newRig(ctx context.Context, tb testserver.TB, bed Bed) (*rig, error) {
	server, err := bed.Start(tb)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bed.Name, err)
	}
	r := &rig{bed: bed, server: server}
	if err := r.look(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", bed.Name, err)
	}
	return r, nil
}

// look finds out what the bed can do.
func (r *rig) look(ctx context.Context) error {
	store, err := r.server.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	_, r.pushes = store.(tenure.Watcher)
	if err := r.write(ctx); err != nil {
		return fmt.Errorf("a bare write: %w", err)
	}
	counter, ok := r.server.(Counter)
	if !ok {
		return nil
	}
	first, err := counter.Counts(ctx)
	if err != nil {
		return err
	}
	second, err := counter.Counts(ctx)
	r.toll = second.Since(first)
	return err
}

// write replaces the first bare value.
func (r *rig) write(ctx context.Context) error { return r.server.Write(ctx, 0) }

// wake makes a bare round trip that is not measured: the server may have had nothing to do for a while.
func (r *rig) wake(ctx context.Context) error { return r.server.Ping(ctx) }

// election returns a name that no other trial has.
func (r *rig) election(trial string) string {
	r.names++
	return fmt.Sprint(trial, "-", r.names)
}

// counted returns what the server counted while do ran, without what it counted of the asking. It is nil if the server
// does not count.
func (r *rig) counted(ctx context.Context, do func() error) (Counts, error) {
	counter, ok := r.server.(Counter)
	if !ok {
		return nil, do()
	}
	stop, err := r.listen(ctx)
	if err != nil {
		return nil, err
	}
	before, err := counter.Counts(ctx)
	if err != nil {
		return nil, err
	}
	if err := do(); err != nil {
		return nil, err
	}
	after, err := counter.Counts(ctx)
	if err != nil {
		return nil, err
	}
	since := after.Since(before)
	for name, value := range r.toll {
		if counted(name) {
			since[name] = max(0, since[name]-value)
		}
	}
	return since, stop()
}

func (r *rig) listen(ctx context.Context) (stop func() error, err error) {
	if listener, ok := r.server.(Listener); ok {
		return listener.Listen(ctx)
	}
	return func() error { return nil }, nil
}
