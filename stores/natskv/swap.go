package natskv

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
	"github.com/tenure-go/tenure/internal/floor"
)

// CompareAndSwap implements [tenure.Store]: one message, which the server stores only if the record's last message is
// the expected one. To create a record takes two requests more: for the marker of one that was deleted, and for the
// floor. A message that meets another one on its way into the copies is sent again, and counts as not applied if that
// lasts a quarter of a second. The outcome is unknown if the answer does not come in time or the connection is lost
// meanwhile.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	snapshot, err := s.swap(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("natskv: swapping %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) swap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, certainty.Mark(err)
	}
	text, err := json.Marshal(record)
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	stored, err := decode(text) // what could not be read again must not be written
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	expected, err := s.expected(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, certainty.Mark(err)
	}
	sequence, err := s.publish(ctx, key(election), nil, text, expected)
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return tenure.Snapshot{Version: version(sequence), Record: stored}, nil
}

// expected returns the sequence that the record's key must have for the write to be accepted.
func (s *Store) expected(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (uint64, error) {
	if old == "" {
		return s.vacancy(ctx, election, record)
	}
	sequence, err := strconv.ParseUint(string(old), 10, 64)
	if err != nil || sequence == 0 {
		return 0, tenure.ErrConflict // no version of ours
	}
	return sequence, nil
}

// vacancy returns the sequence of the marker that stands where the record was, zero if there never was one. It reads
// the floor after that: a record that is pruned later leaves another marker, and raised the floor before.
func (s *Store) vacancy(ctx context.Context, election string, record tenure.Record) (uint64, error) {
	e, err := s.get(ctx, key(election))
	switch {
	case err != nil:
		return 0, err
	case e.exists():
		return 0, tenure.ErrConflict
	}
	pruned, err := s.floor(ctx)
	if err != nil {
		return 0, err
	}
	if floor.Refuses(max(pruned, e.pruned()), record) {
		return 0, tenure.ErrConflict
	}
	return e.sequence, nil
}
