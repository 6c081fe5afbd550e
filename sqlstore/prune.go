package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by the database's clock. The floor is
// committed before anything is deleted, and a record that changes meanwhile is kept. If some elections cannot be
// pruned, Prune returns the names of those that were, together with the error. The names are sorted.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	names, err := s.prune(ctx, unused)
	slices.Sort(names)
	if err != nil {
		return names, fmt.Errorf("sqlstore: pruning: %w", err)
	}
	return names, nil
}

func (s *Store) prune(ctx context.Context, unused time.Duration) (names []string, err error) {
	idle, err := s.idle(ctx, unused)
	if len(idle) == 0 {
		return nil, err
	}
	var floor uint64
	for _, seat := range idle {
		floor = max(floor, seat.token)
	}
	if _, raising := s.exec(ctx, s.statements.raise, int64(floor), int64(floor)); raising != nil {
		return nil, errors.Join(err, raising)
	}
	for _, seat := range idle {
		deleted, removing := s.exec(ctx, s.statements.remove, seat.election, seat.version)
		if deleted > 0 {
			names = append(names, seat.election)
		}
		err = errors.Join(err, removing)
	}
	return names, err
}

// seat is a record that can be deleted as long as its version stands.
type seat struct {
	election, version string
	token             uint64
	row               row
}

// idle returns the elections that nobody has used for at least that long, and an error about each whose row is damaged.
func (s *Store) idle(ctx context.Context, unused time.Duration) (idle []seat, damaged error) {
	unchanged, err := collect(ctx, s, func(rows *sql.Rows) (found seat, err error) {
		err = rows.Scan(append([]any{&found.election, &found.version}, found.row.targets()...)...)
		return found, err
	}, s.statements.unused, unused.Milliseconds())
	if err != nil {
		return nil, err
	}
	for _, found := range unchanged {
		record, err := found.row.record()
		switch {
		case err != nil:
			damaged = errors.Join(damaged, tenure.Permanent(fmt.Errorf("the row of election %q: %w", found.election, err)))
		case record.Vacant() && record.Pause == nil:
			found.token = record.Token
			idle = append(idle, found)
		}
	}
	return idle, damaged
}
