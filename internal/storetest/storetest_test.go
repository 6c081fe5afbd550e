package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
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

// failure returns what is found wrong by a check.
func failure(t *testing.T, check func(tb TB)) (found string) {
	t.Helper()
	r := &recorder{T: t}
	defer func() {
		if stopped := recover(); stopped != nil && stopped != r {
			panic(stopped)
		}
		found = r.failure
	}()
	check(r)
	return ""
}

func TestWrongURLs(t *testing.T) {
	refusal := func(text string) error { return fmt.Errorf("%w: %s", tenure.ErrConfig, text) }
	for want, err := range map[string]error{
		"": refusal("no host"), "the error is <nil>": nil, "the error is no host": errors.New("no host"),
		"want ErrConfig with": refusal("no port"), "tells the password": refusal("no host for secret"),
	} {
		open := func(context.Context, string, ...int) (int, error) { return 0, err }
		found := failure(t, func(tb TB) { WrongURLs(tb, open, map[string]string{"s://u:secret@": "no host"}) })
		if !strings.Contains(found, want) || want == "" && found != "" {
			t.Errorf("%v: found was %q, want %q", err, found, want)
		}
	}
}

func TestClosedAndPrune(t *testing.T) {
	s := memory.New()
	Swap(t, s, "old", "", tenure.Record{Token: 1})
	if found := failure(t, func(tb TB) { Closed(tb, "an open store", s) }); !strings.Contains(found, "of an open store") {
		t.Errorf("of an open store is found %q", found)
	}
	if found := failure(t, func(tb TB) { Prune(tb, s, "other") }); found == "" {
		t.Error("another election was pruned, and nobody notices")
	}
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
