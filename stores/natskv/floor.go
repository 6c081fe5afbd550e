package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure"
)

// floorValue is the content of floorKey.
type floorValue struct {
	Floor uint64 `json:"tenure_floor"`
}

// floor returns the token above which new records start.
func (s *Store) floor(ctx context.Context) (uint64, error) {
	e, err := s.get(ctx, floorKey)
	if err != nil {
		return 0, err
	}
	return e.floor()
}

func (e entry) floor() (uint64, error) {
	if !e.exists() {
		return 0, nil
	}
	var value floorValue
	if err := json.Unmarshal(e.data, &value); err != nil || value.Floor > tenure.MaxToken {
		return 0, tenure.Permanent(fmt.Errorf("the key %q is damaged or foreign: %q", e.key, e.data))
	}
	return value.Floor, nil
}

// raiseFloor returns when the floor is at least that high.
func (s *Store) raiseFloor(ctx context.Context, floor uint64) error {
	text, err := json.Marshal(floorValue{floor})
	if err != nil {
		return err
	}
	for {
		e, err := s.get(ctx, floorKey)
		if err != nil {
			return err
		}
		current, err := e.floor()
		if err != nil || current >= floor {
			return err
		}
		// Another Prune may be faster, with another floor.
		if _, err := s.publish(ctx, floorKey, nil, text, e.sequence); !errors.Is(err, tenure.ErrConflict) {
			return err
		}
	}
}
