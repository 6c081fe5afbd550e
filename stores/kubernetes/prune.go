package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/tenure-go/tenure"
)

// unusedLease is one that can be pruned.
type unusedLease struct {
	lease    *coordinationv1.Lease
	election string
	token    uint64
}

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by the API server's clock and this host's.
// Leases that a candidate has not written last are left alone. If some elections cannot be pruned, Prune returns the
// names of those that were, together with the error.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	names, err := s.prune(ctx, unused)
	if err != nil {
		err = fmt.Errorf("kubernetes: pruning: %w", err)
	}
	return names, err
}

func (s *Store) prune(ctx context.Context, unused time.Duration) (names []string, err error) {
	leases, err := s.list(ctx, "")
	if err != nil {
		return nil, err
	}
	idle, floor := idleOf(leases.Items, unused)
	if len(idle) == 0 {
		return nil, nil
	}
	if err := s.raiseFloor(ctx, floor); err != nil {
		return nil, fmt.Errorf("raising the floor: %w", err)
	}
	for _, u := range idle {
		switch failed := s.remove(ctx, u.lease); {
		case failed == nil:
			names = append(names, u.election)
		case !errors.Is(failed, tenure.ErrConflict): // else it is in use after all
			err = errors.Join(err, fmt.Errorf("%q: %w", u.election, failed))
		}
	}
	slices.Sort(names)
	return names, err
}

// idleOf returns the Leases that nobody has used for at least that long, and the highest token of their records.
func idleOf(leases []coordinationv1.Lease, unused time.Duration) (idle []unusedLease, floor uint64) {
	for i := range leases {
		lease := &leases[i]
		election, ok := electionOf(lease)
		c, err := contentOf(lease)
		if !ok || err != nil || c.Record == nil || c.Spec != sealOf(lease.Spec) || leaseName(election) != lease.Name {
			continue
		}
		if c.Record.Vacant() && c.Record.Pause == nil && max(0, time.Since(changed(lease))) >= unused {
			idle = append(idle, unusedLease{lease, election, c.Record.Token})
			floor = max(floor, c.Record.Token)
		}
	}
	return idle, floor
}

// changed returns when a Lease was written last, as the API server tells, or else by the clock of who wrote it.
func changed(lease *coordinationv1.Lease) time.Time {
	last := lease.CreationTimestamp.Time
	for _, field := range lease.ManagedFields {
		if field.Time != nil && field.Time.After(last) {
			last = field.Time.Time
		}
	}
	if len(lease.ManagedFields) == 0 && lease.Spec.RenewTime != nil && lease.Spec.RenewTime.After(last) {
		last = lease.Spec.RenewTime.Time
	}
	return last
}
