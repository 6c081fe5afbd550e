package sqlstore

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure"
)

// nextVersion counts the writes, for people, and ends in a random number, so that a version never recurs: neither
// after a deletion, nor when a fail-over took back a write that was acknowledged. The client makes it, so that a swap
// needs no reply but the number of rows.
func nextVersion(old tenure.Version) tenure.Version {
	number, _, _ := strings.Cut(string(old), "-")
	count, _ := strconv.ParseUint(number, 10, 64) // 0 of what is no version of ours, which then conflicts
	return tenure.Version(fmt.Sprintf("%d-%016x", count+1, rand.Uint64()))
}
