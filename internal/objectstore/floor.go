package objectstore

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/floor"
)

// floor returns the highest token that was pruned, and the tag of the object that says so, empty if there is none.
func (s *Store) floor(ctx context.Context) (floor uint64, tag string, err error) {
	key := s.prefix + floorKey
	object, err := s.client.Get(ctx, key)
	switch {
	case errors.Is(err, ErrMissing):
		return 0, "", nil
	case err != nil:
		return 0, "", err
	}
	c, err := decode(key, object.Body)
	return c.Floor, object.Tag, err
}

// raiseFloor returns when the floor is at least token.
func (s *Store) raiseFloor(ctx context.Context, token uint64) error {
	for {
		floor, tag, err := s.floor(ctx)
		if err != nil || floor >= token {
			return err
		}
		body, err := encode(content{Floor: token})
		if err != nil {
			return err
		}
		if _, err = s.client.Put(ctx, s.prefix+floorKey, body, tag); !errors.Is(err, tenure.ErrConflict) {
			return err
		}
	}
}

// checkFloor returns a conflict if a new record would let a token fall that was pruned.
func (s *Store) checkFloor(ctx context.Context, record tenure.Record) error {
	pruned, _, err := s.floor(ctx)
	if err == nil && floor.Refuses(pruned, record) {
		return tenure.ErrConflict
	}
	return err
}
