package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// Prune implements [tenure.Pruner]. The names are sorted.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if err := s.enter(ctx); err != nil {
		return nil, fmt.Errorf("memory: pruning: %w", err)
	}
	defer s.mu.Unlock()
	var pruned []string
	for election, seat := range s.seats {
		if seat.unused(unused) {
			s.floor = max(s.floor, seat.record.Token)
			pruned = append(pruned, election)
		}
	}
	for _, election := range pruned {
		s.remove(election)
	}
	slices.Sort(pruned)
	return pruned, nil
}

// Delete removes the election's record, if there is one, in the way of somebody who has access to a store's data and
// does not know better: whatever the record says, and without raising the floor, so that the token falls. It is there
// to test what candidates make of a record that vanished.
func (s *Store) Delete(election string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version(election) != "" {
		s.remove(election)
	}
}

func (s *Store) remove(election string) {
	seat := s.seats[election]
	seat.version, seat.record = "", tenure.Record{}
	s.notify(seat)
	s.drop(election)
}

func (s *seat) unused(duration time.Duration) bool {
	return s.version != "" && s.record.Vacant() && s.record.Pause == nil && time.Since(s.changed) >= duration
}
