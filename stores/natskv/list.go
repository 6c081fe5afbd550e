package natskv

import (
	"context"
	"fmt"
	"slices"
)

// List implements [tenure.Lister]. It reads the headers of all keys, and takes no notice of keys that cannot be those
// of elections.
func (s *Store) List(ctx context.Context) ([]string, error) {
	var names []string
	err := s.scan(ctx, true, func(e entry) {
		if election, ok := electionOf(e.key); ok && e.exists() {
			names = append(names, election)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("natskv: listing: %w", err)
	}
	slices.Sort(names)
	return slices.Compact(names), nil // what was written meanwhile came twice
}
