package objectstore

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// List implements [tenure.Lister].
func (s *Store) List(ctx context.Context) ([]string, error) {
	entries, err := s.entries(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: listing: %w", s.name, err)
	}
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// entries returns when each election was last written, by the storage's clock.
func (s *Store) entries(ctx context.Context) (map[string]time.Time, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	entries := make(map[string]time.Time)
	err := s.client.List(ctx, s.prefix+electionDir, func(e Entry) {
		if name, ok := electionOf(e.Key[len(s.prefix):]); ok {
			entries[name] = e.Modified
		}
	})
	return entries, err
}
