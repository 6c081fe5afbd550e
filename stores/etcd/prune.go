package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure"
)

// candidate is a record that can be pruned.
type candidate struct {
	entry

	election string
	token    uint64
}

// Prune implements [tenure.Pruner]. etcd keeps no times, so how long a record is unchanged is told by the wall clocks
// of whoever wrote it and of this process; one that does not say when it was written goes only if unused is zero. Each
// record is deleted in one transaction with the raising of the floor. If some elections cannot be pruned, Prune returns
// the names of those that were, together with the error.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	pruned, err := s.prune(ctx, unused)
	if err != nil {
		err = fmt.Errorf("etcd: pruning: %w", err)
	}
	return pruned, err
}

func (s *Store) prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	idle, err := s.idle(ctx, unused)
	var pruned []string
	for _, c := range idle {
		switch failed := s.delete(ctx, c); {
		case failed == nil:
			pruned = append(pruned, c.election)
		case !errors.Is(failed, errInUse):
			err = errors.Join(err, fmt.Errorf("%q: %w", c.election, failed))
		}
	}
	return pruned, err
}

// idle returns the elections that nobody has used for at least that long.
func (s *Store) idle(ctx context.Context, unused time.Duration) (idle []candidate, damaged error) {
	held, _, err := s.all(ctx, s.names.elections())
	if err != nil {
		return nil, err
	}
	for _, e := range held {
		election, ok := s.names.electionOf(e.key)
		if !ok {
			continue
		}
		record, written, err := decode(e.value)
		switch {
		case err != nil:
			damaged = errors.Join(damaged, tenure.Permanent(fmt.Errorf("the key %q is damaged or foreign: %w", e.key, err)))
		case record.Vacant() && record.Pause == nil && old(written, unused):
			idle = append(idle, candidate{e, election, record.Token})
		}
	}
	return idle, damaged
}

func old(written time.Time, unused time.Duration) bool {
	return unused <= 0 || !written.IsZero() && time.Since(written) >= unused
}

// errInUse says that a record has changed since it was judged.
var errInUse = errors.New("in use again")

// delete deletes the record, if it is still the one that was judged, and raises the floor to its token. Somebody else
// may raise it meanwhile.
func (s *Store) delete(ctx context.Context, c candidate) error {
	for {
		held, err := s.get(ctx, c.key, s.names.floor())
		if err != nil {
			return err
		}
		if held[0].revision != c.revision {
			return errInUse
		}
		floor, err := held[1].floor()
		if err != nil {
			return err
		}
		raised, err := json.Marshal(floorValue{max(floor, c.token)})
		if err != nil {
			return err
		}
		_, err = s.write(ctx,
			[]clientv3.Cmp{unchanged(c.key, c.revision), unchanged(s.names.floor(), held[1].revision)},
			clientv3.OpPut(s.names.floor(), string(raised)), clientv3.OpDelete(c.key))
		if !errors.Is(err, tenure.ErrConflict) {
			return err
		}
	}
}
