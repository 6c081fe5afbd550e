package natskv

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

// candidate is a record that can be pruned.
type candidate struct {
	entry
	election string
	token    uint64
}

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by the server's clock alone. The record and
// its history are purged; what stays is a marker of some hundred bytes, as every deleted key of the key-value store
// leaves one, which tells a write that comes late from one that knows of the deletion. If some elections cannot be
// pruned, Prune returns the names of those that were, together with the error.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	names, err := s.prune(ctx, unused)
	if err != nil {
		err = fmt.Errorf("natskv: pruning: %w", err)
	}
	return names, err
}

func (s *Store) prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	idle, damaged := s.idle(ctx, unused)
	var floor uint64
	for _, c := range idle {
		floor = max(floor, c.token)
	}
	if floor > 0 {
		if err := s.raiseFloor(ctx, floor); err != nil {
			return nil, errors.Join(damaged, fmt.Errorf("raising the floor: %w", err))
		}
	}
	names, err := s.purgeAll(ctx, idle)
	return names, errors.Join(damaged, err)
}

// idle returns the elections that nobody has used for at least that long.
func (s *Store) idle(ctx context.Context, unused time.Duration) (idle []candidate, damaged error) {
	info, err := s.info(ctx)
	if err != nil {
		return nil, err
	}
	last := make(map[string]entry) // what was written meanwhile comes twice
	if err := s.scan(ctx, false, func(e entry) { last[e.key] = e }); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		e := last[key]
		election, ok := electionOf(key)
		if !ok || !e.exists() || info.TimeStamp.Sub(e.time) < unused {
			continue
		}
		snapshot, err := e.Snapshot(0)
		damaged = errors.Join(damaged, err)
		if err == nil && snapshot.Record.Vacant() && snapshot.Record.Pause == nil {
			idle = append(idle, candidate{e, election, snapshot.Record.Token})
		}
	}
	return idle, damaged
}

func (s *Store) purgeAll(ctx context.Context, idle []candidate) (names []string, err error) {
	for _, c := range idle {
		switch failed := s.purge(ctx, c); {
		case failed == nil:
			names = append(names, c.election)
		case !errors.Is(failed, tenure.ErrConflict): // else it is in use after all
			err = errors.Join(err, fmt.Errorf("%q: %w", c.election, failed))
		}
	}
	slices.Sort(names)
	return names, err
}

// purge replaces the record, if it is still the one that was judged, by the marker of a purged key.
func (s *Store) purge(ctx context.Context, c candidate) error {
	header := nats.Header{}
	header.Set(operationHeader, purgeOperation)
	header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	header.Set(prunedHeader, strconv.FormatUint(c.token, 10))
	_, err := s.publish(ctx, c.key, header, nil, c.sequence)
	return err
}
