package kubernetes

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/floor"
)

// floor returns the token above which new records start.
func (s *Store) floor(ctx context.Context) (uint64, error) {
	lease, err := s.get(ctx, floorName)
	if err != nil {
		return 0, err
	}
	return floorOf(lease)
}

func floorOf(lease *coordinationv1.Lease) (uint64, error) {
	if lease == nil {
		return 0, nil
	}
	c, err := contentOf(lease)
	if err != nil {
		return 0, tenure.Permanent(fmt.Errorf("the Lease %q: %w", lease.Name, err))
	}
	return c.Floor, nil
}

// checkFloor returns a conflict if a new record would let a token fall that was pruned.
func (s *Store) checkFloor(ctx context.Context, record tenure.Record) error {
	pruned, err := s.floor(ctx)
	if err == nil && floor.Refuses(pruned, record) {
		return tenure.ErrConflict
	}
	return err
}

// raiseFloor returns when the floor is at least token.
func (s *Store) raiseFloor(ctx context.Context, token uint64) error {
	for {
		lease, err := s.get(ctx, floorName)
		if err != nil {
			return err
		}
		floor, err := floorOf(lease)
		if err != nil || floor >= token {
			return err
		}
		// Another Prune may be faster, with another floor.
		if err := s.writeFloor(ctx, lease, token); !errors.Is(err, tenure.ErrConflict) {
			return err
		}
	}
}

func (s *Store) writeFloor(ctx context.Context, lease *coordinationv1.Lease, token uint64) error {
	write := s.update
	if lease == nil {
		lease, write = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: floorName, Labels: s.config.labels}}, s.add
	}
	lease = lease.DeepCopy()
	if err := annotate(lease, content{Floor: token}); err != nil {
		return err
	}
	_, err := write(ctx, lease)
	return err
}
