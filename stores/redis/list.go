package redis

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// List implements [tenure.Lister]. It reads the sets of names, and then whether each has a record: two round trips,
// in a Cluster two for each master. Nothing scans the database.
func (s *Store) List(ctx context.Context) ([]string, error) {
	if s.closed.Load() {
		return nil, fmt.Errorf("redis: listing: %w", errClosed)
	}
	found, err := call(ctx, false, func() ([]entry, error) { return s.entries(ctx) })
	if err != nil {
		return nil, fmt.Errorf("redis: listing: %w", failed(err))
	}
	var names []string
	for _, e := range found {
		if e.version != "" {
			names = append(names, e.election)
		}
	}
	slices.Sort(names)
	return names, nil
}

// entry is what the sets of names lead to. An entry without a version has no record: somebody deleted it by hand.
type entry struct {
	election, version string
	changed           string // in seconds of Unix time, by the server's clock
	record            string
}

func (s *Store) entries(ctx context.Context) ([]entry, error) {
	names, err := s.names(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	replies := make([]*redis.SliceCmd, len(names))
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, name := range names {
			replies[i] = pipe.HMGet(ctx, s.layout.record(name), "version", "changed", "record")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(names))
	for i, name := range names {
		entries[i] = newEntry(name, replies[i].Val())
	}
	return entries, nil
}

func newEntry(election string, fields []any) entry {
	text := func(i int) string {
		value, _ := fields[i].(string)
		return value
	}
	return entry{election: election, version: text(0), changed: text(1), record: text(2)}
}

// names returns what the sets hold.
func (s *Store) names(ctx context.Context) ([]string, error) {
	replies := make([]*redis.StringSliceCmd, buckets)
	_, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for b := range replies {
			replies[b] = pipe.SMembers(ctx, s.layout.names(b))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, reply := range replies {
		for _, name := range reply.Val() {
			if tenure.CheckElection(name) == nil {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
