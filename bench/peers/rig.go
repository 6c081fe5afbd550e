package peers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
)

// rig is a peer at a lease, with a server of its own.
type rig struct {
	peer   Peer
	lease  time.Duration
	server Server
	names  int
	toll   bench.Counts // what asking for the counts adds to them
}

func newRig(ctx context.Context, tb testserver.TB, peer Peer, lease time.Duration) (*rig, error) {
	if peer.Needs != nil {
		if err := peer.Needs(); err != nil {
			return nil, err
		}
	}
	server, err := peer.Arena.Start(tb)
	if err != nil {
		return nil, err
	}
	r := &rig{peer: peer, lease: lease, server: server}
	for range bench.BareValues {
		if err := server.Write(ctx, 0); err != nil {
			return nil, fmt.Errorf("a bare write: %w", err)
		}
	}
	return r, r.weigh(ctx)
}

// weigh finds out what it costs to ask for the counts.
func (r *rig) weigh(ctx context.Context) error {
	stop, err := r.listen(ctx)
	if err != nil {
		return err
	}
	first, err := r.server.Counts(ctx)
	if err != nil {
		return errors.Join(err, stop())
	}
	second, err := r.server.Counts(ctx)
	r.toll = second.Since(first)
	return errors.Join(err, stop())
}

func (r *rig) listen(ctx context.Context) (stop func() error, err error) {
	if listener, ok := r.server.(bench.Listener); ok {
		return listener.Listen(ctx)
	}
	return func() error { return nil }, nil
}

// election returns a name that no other trial has.
func (r *rig) election(trial string) string {
	r.names++
	return fmt.Sprint(trial, "-", r.names)
}

// counted returns what the server counted while do ran.
func (r *rig) counted(ctx context.Context, do func() error) (bench.Counts, error) {
	stop, err := r.listen(ctx)
	if err != nil {
		return nil, err
	}
	before, err := r.server.Counts(ctx)
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	if err := do(); err != nil {
		return nil, errors.Join(err, stop())
	}
	after, err := r.server.Counts(ctx)
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	since := after.Since(before)
	for name, value := range r.toll {
		since[name] = max(0, since[name]-value)
	}
	return since, stop()
}
