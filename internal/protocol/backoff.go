package protocol

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Backoff spaces the calls to a store that fails: initial, times factor after every failure, at most max, each
// shortened by a random share of up to jitter.
type Backoff struct {
	Initial, Max   time.Duration
	Factor, Jitter float64
}

func (b Backoff) check() error {
	switch {
	case b.Initial <= 0 || b.Max < b.Initial:
		return fmt.Errorf("back-off must satisfy 0 < initial <= max, but initial is %v, max %v", b.Initial, b.Max)
	case !(b.Factor >= 1) || math.IsInf(b.Factor, 0):
		return fmt.Errorf("back-off factor %v must be at least 1", b.Factor)
	case !(b.Jitter >= 0 && b.Jitter <= 1):
		return fmt.Errorf("back-off jitter %v must be between 0 and 1", b.Jitter)
	}
	return nil
}

// delay returns the pause after failures failures in a row (at least one).
func (b Backoff) delay(failures int, random *rand.Rand) time.Duration {
	d := math.Min(float64(b.Initial)*math.Pow(b.Factor, float64(failures-1)), float64(b.Max))
	return time.Duration(d * (1 - b.Jitter*random.Float64()))
}
