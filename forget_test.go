package tenure_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// forget returns what Forget did, and how long that took.
func forget(t *testing.T, store tenure.Store) (time.Duration, error) {
	t.Helper()
	began := time.Now()
	err := tenure.Forget(t.Context(), store, name)
	return time.Since(began), err
}

func TestForgetSeesALivingLeaderSoon(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		a, _ := start(t, inner, "a")
		store := &hooked{Store: inner}
		if took, err := forget(t, store); !errors.Is(err, tenure.ErrHeld) || took > ttl/3+ttl/10 {
			t.Errorf("Forget = %v after %v", err, took)
		}
		if store.loads > 6 || store.puts > 0 {
			t.Errorf("%d loads and %d writes", store.loads, store.puts)
		}
		stop(t, a)
	})
}

// The time of a dead leader is over when its TTL has passed since the reply of the first look, by clocks that may both
// be wrong by a hundredth.
func TestForgetWaitsOutALease(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		put(t, inner, led(1, "a"))
		store := &hooked{Store: inner}
		store.onLoad = func(ctx context.Context, n int) (tenure.Snapshot, error) {
			if n == 1 {
				time.Sleep(time.Minute) // under way
			}
			return inner.Load(ctx, name)
		}
		took, err := forget(t, store)
		if err != nil || took < time.Minute+ttl*101/100 || took > time.Minute+ttl*102/100 {
			t.Errorf("Forget = %v after %v", err, took)
		}
		if r := record(t, inner); !r.Forgotten || store.loads > 12 {
			t.Errorf("record %+v after %d loads", r, store.loads)
		}
	})
}

func TestForgetCountsByTheLongestTTL(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		put(t, inner, led(1, "a"))
		edited := led(1, "a")
		edited.TTL = 3 * ttl
		time.AfterFunc(ttl/2, func() { put(t, inner, edited) })
		time.AfterFunc(ttl, func() { put(t, inner, led(1, "a")) })
		if took, err := forget(t, inner); err != nil || took < 3*ttl {
			t.Errorf("Forget = %v after %v", err, took)
		}
		for _, absurd := range []time.Duration{0, -ttl} {
			r := led(2, "a")
			r.TTL = absurd
			put(t, inner, r)
			if took, err := forget(t, inner); err != nil || took < tenure.DefaultTTL {
				t.Errorf("Forget with the TTL %v = %v after %v", absurd, err, took)
			}
		}
		r := led(3, "a")
		r.TTL = math.MaxInt64
		put(t, inner, r)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := tenure.Forget(ctx, inner, name); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Forget with a lease of centuries = %v", err)
		}
	})
}

// TestForgetLooksAgain: requests are no sign of life, and a tombstone whose reply was lost is written once.
func TestForgetLooksAgain(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		put(t, inner, led(1, "a"))
		store := &hooked{Store: inner}
		store.onSwap = func(n int, swap func() error) error {
			switch n {
			case 1:
				if _, err := tenure.Ask(t.Context(), inner, name, tenure.Request{}); err != nil {
					t.Error(err)
				}
				return swap()
			default:
				return lostReply(swap)
			}
		}
		took, err := forget(t, store)
		if err != nil || store.puts != 2 || took > ttl*11/10 {
			t.Errorf("Forget = %v after %v and %d writes", err, took, store.puts)
		}
		if r := record(t, inner); !r.Forgotten || r.Renewals < 2 || r.Request != nil {
			t.Errorf("record = %+v", r)
		}
	})
}

// A seat that is taken in the last moment is not emptied.
func TestForgetLeavesANewLeaderAlone(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		put(t, inner, tenure.Record{Token: 1, TTL: ttl, Renewals: 1})
		store := &hooked{Store: inner}
		store.onSwap = func(_ int, swap func() error) error {
			put(t, inner, led(2, "b"))
			return swap()
		}
		if _, err := forget(t, store); !errors.Is(err, tenure.ErrHeld) || record(t, inner).Leader != "b" {
			t.Errorf("Forget = %v, record %+v", err, record(t, inner))
		}
	})
}

// A read that lags neither counts as a sign of life nor begins the count anew.
func TestForgetPassesOverStaleReads(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		put(t, inner, led(1, "a"))
		old, _ := inner.Load(t.Context(), name)
		put(t, inner, led(2, "b"))
		store := &hooked{Store: inner}
		store.onLoad = func(ctx context.Context, n int) (tenure.Snapshot, error) {
			if n%3 == 2 {
				return old, nil
			}
			return inner.Load(ctx, name)
		}
		if took, err := forget(t, store); err != nil || took < ttl || took > ttl*11/10 || record(t, inner).Token != 2 {
			t.Errorf("Forget = %v after %v", err, took)
		}
	})
}
