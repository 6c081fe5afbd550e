package tenure_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// One attempt waits for the first verdict of the health check, which may take longer than to read the record.
func TestTryAcquireWaitsForTheFirstVerdict(t *testing.T) {
	for _, sick := range []error{nil, errSick} {
		bubble(t, func(t *testing.T, store *memory.Store) {
			c, _ := candidate(t, store, "a", tenure.WithHealthCheck(func(context.Context) error {
				time.Sleep(time.Second)
				return sick
			}, time.Minute))
			began := time.Now()
			won, err := c.TryAcquire(t.Context())
			if won != (sick == nil) || err != nil || time.Since(began) < time.Second {
				t.Errorf("sick %v: TryAcquire = %v, %v after %v", sick, won, err, time.Since(began))
			}
			stop(t, c)
		})
	}
}

// The context bounds that wait.
func TestTryAcquireDoesNotWaitForAVerdictForEver(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, store, "a", tenure.WithHealthCheck(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		won, err := c.TryAcquire(ctx)
		if won || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("TryAcquire = %v, %v after %v", won, err, time.Since(began))
		}
	})
}

// Who resigns leaves the seat to others, but who then tries in so many words wants it.
func TestTryAcquireAfterOnesOwnResignation(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := candidate(t, store, "a")
		for token := uint64(1); token < 4; token++ {
			won, err := c.TryAcquire(t.Context())
			if !won || err != nil {
				t.Errorf("TryAcquire = %v, %v", won, err)
			}
			if r := record(t, store); r.Token != token {
				t.Errorf("token = %d, want %d", r.Token, token)
			}
			if err := c.Resign(context.Background()); won && err != nil {
				t.Errorf("Resign = %v", err)
			}
			synctest.Wait()
		}
		stop(t, c)
	})
}

// Health is unknown at each start: what was well in an earlier run may be sick by now.
func TestHealthIsUnknownAtEachStart(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		var sick atomic.Bool
		c, d := candidate(t, store, "a", tenure.WithHealthCheck(func(context.Context) error {
			time.Sleep(time.Second)
			if sick.Load() {
				return errSick
			}
			return nil
		}, time.Minute))
		for range 2 {
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
			stop(t, c)
			sick.Store(true)
		}
		if n := d.count(tenure.EventElected); n != 1 {
			t.Errorf("elected %d times, once while it was sick", n)
		}
	})
}

// Without a drain no work could return in time: every stop would overrun, and nothing be released.
func TestDrainThatIsTooShort(t *testing.T) {
	for _, drain := range []time.Duration{0, 10*time.Millisecond - 1} {
		_, err := tenure.New(memory.New(), name, tenure.WithTTL(ttl), tenure.WithDrain(drain))
		if !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), "drain >= 10ms") {
			t.Errorf("a drain of %v: %v", drain, err)
		}
	}
	if _, err := tenure.New(memory.New(), name, tenure.WithTTL(ttl), tenure.WithDrain(10*time.Millisecond)); err != nil {
		t.Errorf("a drain of 10 ms: %v", err)
	}
}
