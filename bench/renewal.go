package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure"
)

// Renewal is the time of a leader's write, in turn with that of a bare write to the same server.
type Renewal struct {
	Renewal, Write, Ping Series
	// Cost and Bare are what the server counted for one of each.
	Cost, Bare Counts
}

// renewing renews the record of a leader that is not there.
type renewing struct {
	rig      *rig
	store    Store
	election string
	last     tenure.Snapshot
	odd      bool // whether the bare write comes first
	result   Renewal
}

// callTimeout bounds a renewal. No candidate calls without a bound, and clients do less without: they need no goroutine
// to end a call. A candidate's is a sixth of this at default settings, which costs the same; this one outlasts a pause
// of a busy machine.
const callTimeout = tenure.DefaultTTL

func (r *rig) beginRenewal(ctx context.Context) (*renewing, error) {
	store, err := r.server.Open(ctx)
	if err != nil {
		return nil, err
	}
	n := &renewing{rig: r, store: store, election: r.election("renewal")}
	if err := n.lead(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return n, nil
}

// lead writes the record of a new term, as a candidate does.
func (n *renewing) lead(ctx context.Context) error {
	now := time.Now()
	var err error
	n.last, err = n.store.CompareAndSwap(ctx, n.election, "", tenure.Record{
		Token: 1, Leader: "node-0", Session: "bench-session-0123456789", TTL: tenure.DefaultTTL, Renewals: 1,
		Address: "10.0.0.1:8080", ElectedAt: now, RenewedAt: now,
	})
	return err
}

func (n *renewing) renew(ctx context.Context) error {
	record := n.last.Record
	record.Renewals++
	record.RenewedAt = time.Now()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	next, err := n.store.CompareAndSwap(ctx, n.election, n.last.Version, record)
	if err != nil {
		return fmt.Errorf("renewing: %w", err)
	}
	n.last = next
	return nil
}

// sample measures one bare round trip, and then one renewal and one bare write, now the one first and now the other.
func (n *renewing) sample(ctx context.Context) error {
	if err := n.rig.wake(ctx); err != nil {
		return err
	}
	// The round trip wakes up the way of the bare write; without a look that of the renewal would sleep on.
	if _, err := n.store.Load(ctx, n.election); err != nil {
		return err
	}
	if err := n.result.Ping.timed(func() error { return n.rig.server.Ping(ctx) }); err != nil {
		return err
	}
	renewal := func() error { return n.result.Renewal.timed(func() error { return n.renew(ctx) }) }
	write := func() error { return n.result.Write.timed(func() error { return n.rig.write(ctx) }) }
	if n.odd = !n.odd; n.odd {
		renewal, write = write, renewal
	}
	if err := renewal(); err != nil {
		return err
	}
	return write()
}

// count has the server count what times renewals, and as many bare writes, cost it.
func (n *renewing) count(ctx context.Context, times int) error {
	for _, one := range []struct {
		cost *Counts
		do   func(context.Context) error
	}{{&n.result.Cost, n.renew}, {&n.result.Bare, n.rig.write}} {
		counts, err := n.rig.counted(ctx, func() error { return repeat(ctx, times, one.do) })
		if err != nil {
			return err
		}
		*one.cost = counts.Per(float64(times))
	}
	return nil
}

func repeat(ctx context.Context, times int, do func(context.Context) error) error {
	for range times {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}
