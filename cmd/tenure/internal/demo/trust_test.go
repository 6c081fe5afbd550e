package demo

import (
	"slices"
	"testing"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// trusted returns a span of a process that is named after its PID.
func trusted(pid int, token uint64, from, to guard.Instant) Trust {
	return Trust{Node: string(rune('a' + pid)), PID: pid, Token: token, From: from, To: to}
}

func TestCheck(t *testing.T) {
	released := func(s Trust, returned guard.Instant) Trust {
		s.Released, s.Returned = true, returned
		return s
	}
	for _, test := range []struct {
		name                             string
		spans                            []Trust
		overlaps, fallen, revived, hasty int
	}{
		{name: "nobody"},
		{name: "one after another", spans: []Trust{trusted(1, 1, 10, 20), trusted(2, 2, 21, 30), trusted(1, 3, 31, 40)}},
		{name: "touching", spans: []Trust{trusted(1, 1, 10, 20), trusted(2, 2, 20, 30)}},
		{name: "by a nanosecond", spans: []Trust{trusted(1, 1, 10, 21), trusted(2, 2, 20, 30)}, overlaps: 1},
		{name: "one within the other", spans: []Trust{trusted(1, 1, 10, 40), trusted(2, 2, 20, 30)}, overlaps: 1},
		{name: "woken late", spans: []Trust{
			trusted(1, 1, 10, 100), trusted(2, 2, 20, 30), trusted(3, 3, 40, 50), trusted(2, 4, 101, 110),
		}, overlaps: 2},
		{name: "a single yes within", spans: []Trust{trusted(1, 1, 10, 40), trusted(2, 2, 20, 20)}},
		{name: "the token falls", spans: []Trust{trusted(1, 2, 10, 20), trusted(2, 1, 30, 40)}, fallen: 1},
		{name: "a token twice", spans: []Trust{trusted(1, 1, 10, 20), trusted(2, 1, 30, 40)}, fallen: 1},
		{name: "a token twice at once", spans: []Trust{trusted(1, 1, 10, 20), trusted(2, 1, 15, 40)}, fallen: 1, overlaps: 1},
		{name: "frozen after a single yes", spans: []Trust{trusted(1, 1, 35, 35), trusted(2, 2, 30, 40)}},
		{name: "trust comes back", spans: []Trust{trusted(1, 1, 10, 20), trusted(1, 1, 30, 30)}, revived: 1},
		{name: "released in time", spans: []Trust{released(trusted(1, 1, 10, 20), 22), trusted(2, 2, 22, 30)}},
		{name: "released too early", spans: []Trust{released(trusted(1, 1, 10, 20), 23), trusted(2, 2, 22, 30)}, hasty: 1},
		{name: "lost and worked on", spans: []Trust{
			{PID: 1, Token: 1, From: 10, To: 20, Returned: 50}, trusted(2, 2, 22, 30),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			backwards := slices.Clone(test.spans)
			slices.Reverse(backwards)
			for _, spans := range [][]Trust{test.spans, backwards} {
				f := Check(spans)
				got := []int{len(f.Overlaps), len(f.Fallen), len(f.Revived), len(f.Hasty)}
				want := []int{test.overlaps, test.fallen, test.revived, test.hasty}
				if !slices.Equal(got, want) {
					t.Errorf("found overlaps, fallen, revived, hasty %v; want %v: %+v", got, want, f)
				}
				if f.Clean() != (slices.Max(want) == 0) {
					t.Errorf("clean is %t after %v", f.Clean(), got)
				}
			}
		})
	}
}

func TestCheckTellsWhoOverlapped(t *testing.T) {
	f := Check([]Trust{trusted(1, 7, 10, 40), trusted(2, 8, 25, 60)})
	if len(f.Overlaps) != 1 {
		t.Fatalf("found %d overlaps, want 1", len(f.Overlaps))
	}
	if o := f.Overlaps[0]; o.A.Token != 7 || o.B.Token != 8 || o.From != 25 || o.To != 40 {
		t.Errorf("found %+v, want tokens 7 and 8 from 25 to 40", o)
	}
}

func TestCoveredCountsNoTimeTwice(t *testing.T) {
	spans := []Trust{trusted(2, 2, 15, 30), trusted(1, 1, 10, 20), trusted(3, 3, 18, 25), trusted(1, 4, 40, 45)}
	if got := covered(spans); got != 25 {
		t.Errorf("covered %d, want 25", got)
	}
}
