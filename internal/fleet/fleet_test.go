package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenure-go/tenure/memory"
)

// recorder is a test that may fail.
type recorder struct {
	*testing.T
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
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
	stops[first.Leader]()
	f.Over(first)
	if second := f.Next(); second.Token <= first.Token {
		t.Errorf("token %d after %d", second.Token, first.Token)
	}
	f.Check()
	if len(f.terms) != 2 || len(r.failures) > 0 {
		t.Errorf("%d terms, failures %q", len(f.terms), r.failures)
	}
}

func TestOverlapsAndFallingTokensAreFound(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	for name, test := range map[string]struct {
		terms []*span
		found int
	}{
		"apart":    {[]*span{{"a", 1, at(0), at(1)}, {"b", 2, at(2), at(3)}}, 0},
		"unsorted": {[]*span{{"b", 2, at(2), at(3)}, {"a", 1, at(0), at(1)}}, 0},
		"overlap":  {[]*span{{"a", 1, at(0), at(2)}, {"b", 2, at(1), at(3)}}, 1},
		"inside":   {[]*span{{"a", 1, at(0), at(9)}, {"b", 2, at(1), at(3)}}, 1},
		"falling":  {[]*span{{"a", 2, at(0), at(1)}, {"b", 1, at(2), at(3)}}, 1},
		"same":     {[]*span{{"a", 2, at(0), at(1)}, {"b", 2, at(2), at(3)}}, 1},
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
