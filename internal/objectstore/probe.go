package objectstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tenure-go/tenure"
)

// probe is whether the storage honours conditions, once that is known.
type probe struct {
	turn   chan struct{} // one at a time tries
	writes atomic.Bool   // tried, and honoured
}

func newProbe() probe { return probe{turn: make(chan struct{}, 1)} }

// wrongTag is no object's tag, but has the form of one.
const wrongTag = `"00000000000000000000000000000000"`

// Check returns nil if the storage honours the conditions of writes, which it tries until it knows. The error wraps
// [tenure.ErrPermanent] if it does not. All writes of it are such that they must be refused, but for the one that
// creates the object that it tries them on: so any number of processes can try at once.
func (s *Store) Check(ctx context.Context) error {
	if s.probe.writes.Load() {
		return nil
	}
	select {
	case s.probe.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.probe.turn }()
	if s.probe.writes.Load() {
		return nil
	}
	err := s.tryWrites(ctx)
	if err == nil {
		s.probe.writes.Store(true)
	}
	return err
}

func (s *Store) tryWrites(ctx context.Context) error {
	if created, err := s.tryCreate(ctx); err != nil {
		return err
	} else if created {
		// Now that there is one, a second must be refused.
		if again, err := s.tryCreate(ctx); err != nil || again {
			return s.ignored("If-None-Match", err)
		}
	}
	for _, key := range []string{probeKey, absentKey} {
		if err := s.tryPut(ctx, key, wrongTag); !errors.Is(err, tenure.ErrConflict) {
			return s.ignored("If-Match", err)
		}
	}
	return nil
}

// tryCreate reports whether the probe's object was created.
func (s *Store) tryCreate(ctx context.Context) (bool, error) {
	err := s.tryPut(ctx, probeKey, "")
	if errors.Is(err, tenure.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

func (s *Store) tryPut(ctx context.Context, key, old string) error {
	body, err := encode(content{})
	if err != nil {
		return err
	}
	_, err = s.client.Put(ctx, s.prefix+key, body, old)
	return err
}

// ignored returns err, or without one says that a condition was ignored.
func (s *Store) ignored(condition string, err error) error {
	if err != nil {
		return fmt.Errorf("trying whether the storage honours conditions: %w", err)
	}
	return tenure.Permanent(fmt.Errorf("the storage ignores the condition %s and has written an object that it should "+
		"have refused (%s%s): two leaders would overwrite each other. Use a storage with conditional writes",
		condition, s.prefix, probeKey))
}

// DeletesConditionally tries whether the storage honours the condition of a deletion.
func (s *Store) DeletesConditionally(ctx context.Context) (bool, error) {
	err := s.Check(ctx)
	if err == nil {
		_, err = s.tryCreate(ctx) // an earlier try may have deleted it
	}
	if err != nil {
		return false, err
	}
	switch err := s.client.Delete(ctx, s.prefix+probeKey, wrongTag); {
	case errors.Is(err, tenure.ErrConflict):
		return true, nil
	case err == nil:
		return false, nil
	default:
		return false, err
	}
}
