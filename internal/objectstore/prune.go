package objectstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by the storage's clock and this host's.
// Where the storage does not honour the condition of a deletion, records are emptied instead: what remains of them is a
// forgotten record with its token. If some elections cannot be pruned, Prune returns the names of those that were,
// together with the error.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	names, err := s.prune(ctx, unused)
	if err != nil {
		err = fmt.Errorf("%s: pruning: %w", s.name, err)
	}
	slices.Sort(names)
	return names, err
}

func (s *Store) prune(ctx context.Context, unused time.Duration) (names []string, err error) {
	entries, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	idle, err := s.idle(ctx, entries, unused)
	if err != nil || len(idle) == 0 {
		return nil, err
	}
	deletes, err := s.DeletesConditionally(ctx)
	if err != nil {
		return nil, err
	}
	if deletes {
		if err := s.raiseFloor(ctx, highest(idle)); err != nil {
			return nil, err
		}
	}
	var failures []error
	for name, snapshot := range idle {
		switch err := s.discard(ctx, name, snapshot, deletes); {
		case err == nil:
			names = append(names, name)
		case !errors.Is(err, tenure.ErrConflict): // else it is in use after all
			failures = append(failures, fmt.Errorf("%q: %w", name, err))
		}
	}
	return names, errors.Join(failures...)
}

// idle returns the records that nobody has used for at least that long.
func (s *Store) idle(
	ctx context.Context, entries map[string]time.Time, unused time.Duration,
) (map[string]tenure.Snapshot, error) {
	idle := make(map[string]tenure.Snapshot)
	for name, modified := range entries {
		if max(0, time.Since(modified)) < unused { // the storage's clock may be ahead
			continue
		}
		snapshot, err := s.load(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		if r := snapshot.Record; snapshot.Exists() && r.Vacant() && r.Pause == nil {
			idle[name] = snapshot
		}
	}
	return idle, nil
}

func highest(records map[string]tenure.Snapshot) (token uint64) {
	for _, snapshot := range records {
		token = max(token, snapshot.Record.Token)
	}
	return token
}

// discard deletes a record or else empties it, if it is still the one that was judged.
func (s *Store) discard(ctx context.Context, name string, judged tenure.Snapshot, deletes bool) error {
	if deletes {
		return s.client.Delete(ctx, s.prefix+recordKey(name), string(judged.Version))
	}
	if judged.Record.Forgotten {
		return tenure.ErrConflict // it is empty, and no more can be done
	}
	_, err := s.put(ctx, name, tenure.Record{Token: judged.Record.Token, Forgotten: true}, judged.Version)
	return err
}
