package bench

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure"
)

// Herd is what changes of leader cost with many candidates on one election.
type Herd struct {
	Candidates int
	Changes    int
	Gap        Series
	// Accepted are the swaps that changed the leader, the release included; renewals are not among them.
	Accepted int
	// Rejected are the swaps that lost, MostRejected those of the worst change.
	Rejected, MostRejected int
	// Loads are reads of the record, Failed what failed otherwise than by losing.
	Loads, Failed int
	// Lost are the ends of terms that ended by themselves, and are not among the changes.
	Lost []error
	// Counts are the server's, nil if it does not count.
	Counts Counts
}

func (r *rig) measureHerd(ctx context.Context, candidates, processes, changes int) (_ Herd, err error) {
	herd := Herd{Candidates: candidates}
	contest, err := r.standing(ctx, r.election("herd"), candidates, processes)
	if err != nil {
		return herd, err
	}
	defer func() { err = errors.Join(err, contest.close()) }()
	leader, err := contest.next(ctx, tenure.DefaultTTL)
	if err != nil {
		return herd, err
	}
	if err := contest.gather(ctx); err != nil {
		return herd, err
	}
	herd.Counts, err = r.counted(ctx, func() error {
		for range changes {
			if leader, err = herd.change(ctx, contest, leader); err != nil {
				return err
			}
		}
		return nil
	})
	return herd, err
}

func (h *Herd) change(ctx context.Context, c *contest, leader begun) (begun, error) {
	next, gap, err := c.handOver(ctx, leader.candidate)
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		h.Lost = append(h.Lost, lost)
		return next, c.settle(ctx)
	}
	if err != nil {
		return next, err
	}
	if err := c.settle(ctx); err != nil {
		return next, err
	}
	h.Gap = append(h.Gap, gap)
	h.add(c.trace)
	return next, nil
}

// add adds the calls of one change.
func (h *Herd) add(t *trace) {
	calls := t.all()
	h.Changes++
	h.Accepted += t.changes()
	h.Rejected += calls.Rejected
	h.MostRejected = max(h.MostRejected, calls.Rejected)
	h.Loads += calls.Loads
	h.Failed += calls.Failed
}

// changes is the number of accepted swaps since the last reset that changed who leads.
func (t *trace) changes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	changes := 0
	for i, s := range t.swaps {
		if s.vacates || i > 0 && t.swaps[i-1].vacates || i > 0 && t.swaps[i-1].token != s.token {
			changes++
		}
	}
	return changes
}
