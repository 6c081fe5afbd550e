package bubble

import (
	"math/rand/v2"
	"sync"
	"time"
)

// dice are a source of chance that several goroutines use.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
}

func newDice(seed, stream uint64) *dice { return &dice{random: rand.New(rand.NewPCG(seed, stream))} }

func (d *dice) one(of int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.IntN(of)
}

func (d *dice) chance(share float64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.Float64() < share
}

func (d *dice) upTo(bound time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.random.Int64N(int64(bound)))
}
