package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by the server's clock, which stamped it too.
// The floor is raised in every bucket before anything is deleted: 256 short requests, one after another. If some
// elections cannot be pruned, Prune returns the names of those that were, together with the error.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if s.closed.Load() {
		return nil, fmt.Errorf("redis: pruning: %w", errClosed)
	}
	type pruned struct {
		names []string
		err   error
	}
	result, err := call(ctx, false, func() (pruned, error) {
		names, err := s.prune(ctx, unused)
		return pruned{names, err}, nil
	})
	if err == nil {
		err = result.err
	}
	if err != nil {
		err = fmt.Errorf("redis: pruning: %w", failed(err))
	}
	return result.names, err
}

func (s *Store) prune(ctx context.Context, unused time.Duration) ([]string, error) {
	entries, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return nil, err
	}
	idle, floor, damaged := s.idle(entries, now, unused)
	if len(idle) == 0 {
		return nil, damaged
	}
	if err := s.raise(ctx, floor); err != nil {
		return nil, errors.Join(damaged, err)
	}
	names, err := s.deleteAll(ctx, idle)
	return names, errors.Join(damaged, err)
}

// idle returns the entries that may go, those without a record among them, and the highest of their tokens.
func (s *Store) idle(entries []entry, now time.Time, unused time.Duration) (idle []entry, floor uint64, damaged error) {
	for _, e := range entries {
		if e.version == "" {
			idle = append(idle, e)
			continue
		}
		snapshot, err := s.decode(e.election, e.version, e.record)
		if err != nil {
			damaged = errors.Join(damaged, err)
			continue
		}
		if r := snapshot.Record; r.Vacant() && r.Pause == nil && e.unchangedFor(now) >= unused {
			idle = append(idle, e)
			floor = max(floor, r.Token)
		}
	}
	return idle, floor, damaged
}

// unchangedFor rounds down. The clocks of two masters of a Cluster may differ a little, which does not matter to what
// nobody uses.
func (e entry) unchangedFor(now time.Time) time.Duration {
	changed, err := strconv.ParseInt(e.changed, 10, 64)
	if err != nil {
		return 0
	}
	return max(now.Sub(time.Unix(changed+1, 0)), 0)
}

// raise raises the floors of all buckets. Where they were raised already it changes nothing.
func (s *Store) raise(ctx context.Context, floor uint64) error {
	for b := range buckets {
		if _, err := raiseScript.eval(ctx, s.client, []string{s.layout.floor(b)}, floor); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteAll(ctx context.Context, idle []entry) ([]string, error) {
	var names []string
	var failures []error
	for _, e := range idle {
		if ctx.Err() != nil {
			failures = append(failures, ctx.Err())
			break
		}
		reply, err := deleteScript.eval(ctx, s.client, s.layout.keys(e.election),
			e.version, e.election, s.publish, s.layout.channel(e.election))
		if err != nil {
			failures = append(failures, err)
		}
		if reply == int64(1) {
			names = append(names, e.election)
		}
	}
	slices.Sort(names)
	return names, errors.Join(failures...)
}
