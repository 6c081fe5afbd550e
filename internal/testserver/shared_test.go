package testserver

import (
	"slices"
	"testing"
)

func TestSharedServerOutlivesItsFirstTest(t *testing.T) {
	var ended []string
	shared := Shared[string]{Start: func(tb TB) *string {
		tb.Cleanup(func() { ended = append(ended, "data") })
		tb.Cleanup(func() { ended = append(ended, "process") })
		name := "server of " + tb.Name()
		return &name
	}}
	var first *string
	t.Run("first", func(t *testing.T) { first = shared.Server(t) })
	if second := shared.Server(t); second != first || *first != "server of shared" || len(ended) > 0 {
		t.Errorf("the second test has %q after %q, and ended is %q", *second, *first, ended)
	}
	shared.End()
	if !slices.Equal(ended, []string{"process", "data"}) {
		t.Errorf("ended is %q", ended)
	}
}

// Nobody waits again for a server that cannot be had, or uses one that is not there.
func TestSharedServerThatDoesNotStart(t *testing.T) {
	starts, failing := 0, false
	start := func(tb TB) *string {
		starts++
		if failing {
			tb.Fatalf("broken")
		} else {
			tb.Skipf("there is %s", "none")
		}
		return nil
	}
	for _, failing = range []bool{false, true} {
		shared := Shared[string]{Start: start}
		for i := range 2 {
			r := &recorder{TB: t}
			if got := shared.Server(r); got != nil || r.failed != failing || !failing && r.said != "there is none" {
				t.Errorf("test %d has %v, failed %t, said %q", i, got, r.failed, r.said)
			}
		}
	}
	if starts != 2 {
		t.Errorf("two servers were started %d times", starts)
	}
}
