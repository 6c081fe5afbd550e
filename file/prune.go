package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by its file's modification time and this
// host's clock. Nothing is deleted before the floor has been synced to the disk. If some elections cannot be pruned,
// Prune returns the names of those that were, together with the error. One Prune runs at a time; another waits.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if s.closed.Load() {
		return nil, fmt.Errorf("file: pruning: %w", errClosed)
	}
	type pruned struct {
		names []string
		err   error
	}
	result, err := call(ctx, s.writes, func() pruned {
		names, err := s.prune(ctx, unused)
		return pruned{names, err}
	})
	if err == nil {
		err = result.err
	}
	if err != nil {
		err = fmt.Errorf("file: pruning: %w", failed(err))
	}
	return result.names, err
}

func (s *Store) prune(ctx context.Context, unused time.Duration) ([]string, error) {
	lock, err := s.lockStore(ctx)
	if err != nil {
		return nil, err
	}
	defer release(lock)
	idle, damaged := s.idle(unused)
	var floor uint64
	for _, e := range idle {
		floor = max(floor, e.Record.Token)
	}
	if err := s.raiseFloor(floor); err != nil {
		return nil, err
	}
	names, err := s.deleteAll(ctx, idle)
	return names, errors.Join(damaged, err)
}

// idle returns the elections that nobody has used for at least that long.
func (s *Store) idle(unused time.Duration) (idle []envelope, damaged error) {
	names, damaged := s.list()
	for _, name := range names {
		info, err := os.Lstat(s.layout.record(stem(name)))
		if err != nil || time.Since(info.ModTime()) < unused {
			continue
		}
		e, err := s.read(name)
		if err == nil && e.Version != "" && e.Record.Vacant() && e.Record.Pause == nil {
			idle = append(idle, e)
		}
		damaged = errors.Join(damaged, err)
	}
	return idle, damaged
}

func (s *Store) deleteAll(ctx context.Context, idle []envelope) ([]string, error) {
	var names []string
	var failures []error
	for _, e := range idle {
		if ctx.Err() != nil {
			failures = append(failures, ctx.Err())
			break
		}
		deleted, err := s.delete(e)
		if deleted {
			names = append(names, e.Election)
		}
		failures = append(failures, err)
	}
	slices.Sort(names)
	return names, errors.Join(append(failures, s.disk.syncDir(s.layout.elections()))...)
}

// delete removes the record if it is still the one that was judged. A swap lock that somebody holds says that the
// election is in use after all; waiting for it would also keep others from replacing it. It goes last, while it is
// held: who waits for it finds that its file has gone, and makes another.
func (s *Store) delete(e envelope) (bool, error) {
	stem := stem(e.Election)
	lock, err := s.tryLockElection(stem, "")
	if lock == nil || err != nil {
		return false, err
	}
	defer release(lock)
	current, err := s.read(e.Election)
	if err != nil || current.Version != e.Version {
		return false, err
	}
	if err := s.disk.remove(s.layout.record(stem)); err != nil {
		return false, err
	}
	return true, s.disk.remove(s.layout.lock(stem))
}
