package storetest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
)

func TestOutcomeOf(t *testing.T) {
	for want, err := range map[Outcome]error{
		Written: nil, Conflict: tenure.ErrConflict, NotApplied: tenure.NotApplied(errors.New("busy"), time.Second),
		Permanent: tenure.Permanent(errors.New("denied")), Unknown: errors.New("lost"),
	} {
		if err != nil {
			err = fmt.Errorf("swapping: %w", err)
		}
		if got := OutcomeOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
		Want(t, want, err)
	}
}

// recorder is a test that may fail.
type recorder struct {
	*testing.T
	failure string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	panic(r)
}

func TestWantStopsTheTest(t *testing.T) {
	r := &recorder{T: t}
	defer func() {
		if recover() != r || r.failure != "the outcome is unknown, want conflict: lost" {
			t.Errorf("the failure is %q", r.failure)
		}
	}()
	Want(r, Conflict, errors.New("lost"))
}

func TestEventually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, start := &recorder{T: t}, time.Now()
		Eventually(r, "a second has passed", func() bool { return time.Since(start) >= time.Second })
		if took := time.Since(start); took > 2*time.Second || r.failure != "" {
			t.Errorf("it took %v: %q", took, r.failure)
		}
		defer func() {
			if recover() != r || r.failure != "after 1m0s it was not so that pigs fly" {
				t.Errorf("the failure is %q", r.failure)
			}
		}()
		Eventually(r, "pigs fly", func() bool { return false })
	})
}
