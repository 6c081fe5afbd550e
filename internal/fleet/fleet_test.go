package fleet

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

// recorder is a test that may fail.
type recorder struct {
	*testing.T
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

// stopped is a test that may fail, and then stops.
type stopped struct{ recorder }

func (s *stopped) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	panic(s)
}

func TestTermsOneAfterTheOther(t *testing.T) {
	r := &recorder{T: t}
	f := New(r)
	store := memory.New()
	stops := map[string]func(){}
	for _, id := range []string{"a", "b"} {
		stops[id] = f.Stand(store, id)
	}
	first := f.Next()
	f.Known(first)
	f.Stays(first, 0)
	if leader, leads := f.Leader(); !leads || leader.Token != first.Token || len(f.Causes()) != 0 {
		t.Errorf("%s leads: %v, causes %v", leader.Leader, leads, f.Causes())
	}
	stops[first.Leader]()
	f.Over(first)
	second := f.Next()
	f.Known(second) // which the one that was stopped never will
	if awaited := f.Await(first.Token); second.Token <= first.Token || awaited.Token != second.Token {
		t.Errorf("token %d, and then %d, after %d", second.Token, awaited.Token, first.Token)
	}
	f.Check()
	if _, leads := f.Leader(); leads || len(f.Causes()) != 2 {
		t.Errorf("after the end somebody leads: %v, causes %v", leads, f.Causes())
	}
	if len(f.terms) != 2 || len(r.failures) > 0 {
		t.Errorf("%d terms, failures %q", len(f.terms), r.failures)
	}
}

// A candidate that cannot load does not know the term yet.
func TestKnownWaitsForAll(t *testing.T) {
	f := New(t)
	store := memory.New()
	f.Stand(store, "a")
	term := f.Next()
	deaf := tenuretest.NewFaulty(struct{ tenure.Store }{store})
	heal := deaf.Inject(tenuretest.LoseReply())
	f.Stand(deaf, "b")
	healed := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() {
		close(healed)
		heal()
	})
	f.Known(term)
	select {
	case <-healed:
	default:
		t.Error("a candidate without a connection knows of a term")
	}
	f.Check()
}

// A term that is not renewed is waited for, and one that has ended is not.
func TestRenewed(t *testing.T) {
	f := New(t)
	store := tenuretest.NewFaulty(memory.New())
	stop := f.Stand(store, "a", Patient...)
	term := f.Next()
	f.Renewed(term, 2)
	heal := store.Inject(tenuretest.LoseRequest())
	var healed atomic.Bool
	time.AfterFunc(200*time.Millisecond, func() {
		healed.Store(true)
		heal()
	})
	f.Renewed(term, 2) // of which one may have been under way
	if !healed.Load() {
		t.Error("what was lost counts as a renewal")
	}
	stop()
	r := &stopped{recorder{T: t}}
	f.tb = r
	defer func() {
		if recover() != r || len(r.failures) != 1 {
			t.Errorf("after the end of the term: failures %q, want one", r.failures)
		}
	}()
	f.Renewed(term, 1)
}

func TestAnEndedTermDoesNotStay(t *testing.T) {
	for name, another := range map[string]bool{"ended": false, "followed": true} {
		r := &recorder{T: t}
		f := New(r)
		if another {
			f.begun <- tenure.Term{Leader: "b"}
		}
		f.Stays(tenure.Term{Leader: "a"}, 0)
		if len(r.failures) == 0 {
			t.Errorf("%s: no failure", name)
		}
	}
}

func TestOverlapsAndFallingTokensAreFound(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	of := func(token uint64, first, last, ended int) *span {
		return &span{term: tenure.Term{Token: token}, first: at(first), last: at(last), ended: at(ended)}
	}
	late := func(cause error, looks int) *span {
		s := of(1, 0, 1, 3)
		s.cause, s.looksOver = cause, looks
		return s
	}
	for name, test := range map[string]struct {
		terms []*span
		found int
	}{
		"stalled":               {[]*span{late(tenure.ErrLeaseExpired, lateByMost), of(2, 2, 3, 3)}, 0},
		"deaf to its end":       {[]*span{late(tenure.ErrLeaseExpired, lateByMost+1), of(2, 2, 3, 3)}, 1},
		"handed over too early": {[]*span{late(context.Canceled, 1), of(2, 2, 3, 3)}, 1},

		"apart":    {[]*span{of(1, 0, 1, 1), of(2, 2, 3, 3)}, 0},
		"unsorted": {[]*span{of(2, 2, 3, 3), of(1, 0, 1, 1)}, 0},
		"overlap":  {[]*span{of(1, 0, 2, 2), of(2, 1, 3, 3)}, 1},
		"inside":   {[]*span{of(1, 0, 9, 9), of(2, 1, 3, 3)}, 1},
		"work":     {[]*span{of(1, 0, 1, 2), of(2, 2, 3, 3)}, 1},
		"falling":  {[]*span{of(2, 0, 1, 1), of(1, 2, 3, 3)}, 1},
		"same":     {[]*span{of(2, 0, 1, 1), of(2, 2, 3, 3)}, 1},
	} {
		r := &recorder{T: t}
		f := New(r)
		f.terms = test.terms
		f.Check()
		if len(r.failures) != test.found {
			t.Errorf("%s: found %q", name, r.failures)
		}
	}
}
