// Package floor is about the token below which no election of a store may start again, since terms up to it were
// pruned together with their records.
package floor

import "github.com/tenure-go/tenure"

// Refuses reports whether a new record would let a token fall that was pruned. A vacant one only keeps the token of a
// term that is over, so it may stand on the floor: the next term is above it.
func Refuses(floor uint64, record tenure.Record) bool {
	if record.Vacant() {
		return record.Token < floor
	}
	return floor > 0 && record.Token <= floor
}
