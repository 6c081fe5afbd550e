package etcd

import (
	"context"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
	"github.com/tenure-go/tenure/internal/floor"
)

// CompareAndSwap implements [tenure.Store]: one transaction, which is carried out only if the record's key has the
// expected revision. To create a record takes one request more, for the floor. The outcome is unknown if the answer
// does not come in time or the connection is lost meanwhile.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	snapshot, err := s.swap(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("etcd: swapping %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) swap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := s.enter(election); err != nil {
		return tenure.Snapshot{}, err
	}
	value, err := encode(record, time.Now())
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	stored, _, err := decode(value) // what could not be read again must not be written
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	expected, err := s.expected(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, certainty.Mark(err)
	}
	revision, err := s.write(ctx, expected, clientv3.OpPut(s.names.key(election), string(value)))
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return tenure.Snapshot{Version: version(revision), Record: stored}, nil
}

// expected returns on which condition the record may be written.
func (s *Store) expected(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) ([]clientv3.Cmp, error) {
	if old == "" {
		return s.vacancy(ctx, election, record)
	}
	revision, err := strconv.ParseInt(string(old), 10, 64)
	if err != nil || revision <= 0 || version(revision) != old {
		return nil, errConflict // no version of ours
	}
	return []clientv3.Cmp{unchanged(s.names.key(election), revision)}, nil
}

// vacancy expects that there is no record, and that nothing was pruned since the floor was read: whatever was here
// between the two has raised it.
func (s *Store) vacancy(ctx context.Context, election string, record tenure.Record) ([]clientv3.Cmp, error) {
	held, err := s.get(ctx, s.names.floor())
	if err != nil {
		return nil, err
	}
	pruned, err := held[0].floor()
	if err != nil {
		return nil, err
	}
	if floor.Refuses(pruned, record) {
		return nil, fmt.Errorf("%w: the term is not above the floor %d", tenure.ErrConflict, pruned)
	}
	return []clientv3.Cmp{
		unchanged(s.names.key(election), 0), unchanged(s.names.floor(), held[0].revision),
	}, nil
}
