package check

import (
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestLeaks(t *testing.T) {
	samples := func(values ...int) func(*story) {
		return func(s *story) {
			for i, v := range values {
				s.resources(1000+i*100, "a", v, 10)
			}
		}
	}
	tellings(t, "leaks", []telling{
		{"one a sample", samples(10, 11, 12, 13, 14, 15, 16, 17, 18), Violated, 1},
		{"steady", samples(10, 10, 10, 10, 10, 10, 10, 10, 10), Held, 0},
		{"two more", samples(10, 10, 10, 10, 10, 10, 12, 12, 12), Held, 0},
		{"three more", samples(10, 10, 10, 10, 10, 10, 13, 13, 13), Violated, 1},
		{"once back again", samples(10, 10, 10, 10, 10, 10, 13, 12, 13), Held, 0},
		{"once as high at first", samples(10, 11, 10, 10, 10, 10, 13, 13, 13), Held, 0},
		{"high in the middle", samples(10, 10, 10, 90, 90, 90, 10, 10, 10), Held, 0},
		{"falling", samples(30, 30, 30, 20, 20, 20, 10, 10, 10), Held, 0},
		{"the middle belongs to neither", samples(10, 10, 10, 13, 13, 13, 13, 13, 13, 13), Violated, 1},
		{"too few", samples(10, 20, 30, 40, 50, 60, 70, 80), Undecided, 0},
		{"none", func(*story) {}, Undecided, 0},
		{"another's samples", func(s *story) {
			samples(10, 10, 10, 10, 10, 10, 10, 10, 10)(s)
			for i := range 9 {
				s.resources(1000+i*100, "b", 10, 10+i)
			}
		}, Violated, 1},
		{"lives do not add up", func(s *story) {
			samples(10, 10, 10, 10, 10)(s)
			for i := range 5 {
				s.sayIn(2, 3000+i*100, "a", history.Event{Resources: &history.Resources{Goroutines: 50}})
			}
		}, Undecided, 0},
	})
}
