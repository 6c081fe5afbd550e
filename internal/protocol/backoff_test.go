package protocol

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestBackoffGrowsToItsMaximum(t *testing.T) {
	b := Backoff{Initial: 100 * time.Millisecond, Max: time.Second, Factor: 2}
	random := rand.New(rand.NewPCG(1, 1))
	for i, want := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
		if got := b.delay(i+1, random); got != want*time.Millisecond {
			t.Errorf("after %d failures the pause is %v, not %v", i+1, got, want*time.Millisecond)
		}
	}
	if got := b.delay(1<<30, random); got != time.Second {
		t.Errorf("after very many failures the pause is %v", got)
	}
}

func TestBackoffJitterOnlyShortens(t *testing.T) {
	b := Backoff{Initial: time.Second, Max: time.Second, Factor: 1, Jitter: 0.5}
	random := rand.New(rand.NewPCG(1, 1))
	low, high := time.Hour, time.Duration(0)
	for range 1000 {
		d := b.delay(1, random)
		low, high = min(low, d), max(high, d)
	}
	if low < time.Second/2 || low > 510*time.Millisecond || high > time.Second || high < 990*time.Millisecond {
		t.Errorf("pauses are between %v and %v", low, high)
	}
}
