package etcd

import (
	"encoding/json"
	"fmt"

	"github.com/tenure-go/tenure"
)

// floorValue is the value of the floor's key.
type floorValue struct {
	Floor uint64 `json:"tenure_floor"`
}

// floor returns the token above which new records start.
func (e entry) floor() (uint64, error) {
	if !e.exists() {
		return 0, nil
	}
	var value floorValue
	if err := json.Unmarshal(e.value, &value); err != nil || value.Floor > tenure.MaxToken {
		return 0, tenure.Permanent(fmt.Errorf("the key %q is damaged or foreign: %q", e.key, e.value))
	}
	return value.Floor, nil
}
