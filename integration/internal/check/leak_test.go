package check

import (
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestLeaks(t *testing.T) {
	// Each number is what is held after one more term.
	held := func(values ...int) func(*story) {
		return func(s *story) {
			for terms, v := range values {
				s.resources(1, 1000+terms*100, "a", terms, v, 10)
			}
		}
	}
	// The same with so many sockets besides.
	connected := func(goroutines, sockets []int) func(*story) {
		return func(s *story) {
			for terms, v := range goroutines {
				s.say(1000+terms*100, "a", history.Event{Resources: &history.Resources{
					Goroutines: v, Descriptors: 10, Sockets: sockets[terms], Terms: terms,
				}})
			}
		}
	}
	// Lives that each make two steps after the first term.
	lives := func(count int, each ...int) func(*story) {
		return func(s *story) {
			for life := range count {
				for terms, v := range each {
					s.resources(life+1, 1000*life+terms*100, "a", terms, 10, v)
				}
			}
		}
	}
	tellings(t, "leaks", []telling{
		{"steady", held(10, 10, 10), Held, 0},
		{"three a term", held(10, 13, 16), Violated, 1},
		{"a little less, but for chance", held(10, 13, 15), Held, 0},
		{"the same in more terms", held(10, 12, 14, 15), Held, 0},
		{"one a term", held(10, 11, 12, 13, 14), Violated, 1},
		{"one a term, for fewer", held(10, 11, 12, 13), Held, 0},
		{"once not", held(10, 20, 20, 30), Held, 0},
		{"once less", held(10, 20, 19, 30), Held, 0},
		{"a pool that grows once", held(10, 30, 30), Held, 0},
		{"a pool that grows again", connected([]int{11, 13, 17}, []int{1, 2, 4}), Held, 0},
		{"a pool that shrinks", connected([]int{11, 11, 11}, []int{6, 4, 2}), Held, 0},
		{"goroutines beside a pool that grows", connected([]int{11, 16, 21}, []int{1, 2, 3}), Violated, 1},
		{"falling", held(30, 20, 10), Held, 0},
		{"too few terms", held(10, 90), Undecided, 0},
		{"none", func(*story) {}, Undecided, 0},
		{"the least of a term counts", func(s *story) {
			held(10, 13, 16)(s)
			s.resources(1, 2000, "a", 2, 12, 10)
		}, Held, 0},
		{"open files, by another", func(s *story) {
			held(10, 10, 10)(s)
			for terms := range 3 {
				s.resources(1, 1000+terms*100, "b", terms, 10, 10+3*terms)
			}
		}, Violated, 1},
		{"lives do not add up", func(s *story) {
			s.resources(1, 1000, "a", 0, 10, 10)
			s.resources(1, 1100, "a", 1, 20, 10)
			s.resources(2, 1200, "a", 2, 30, 10)
		}, Undecided, 0},

		{"one a term in many lives", lives(3, 10, 11, 12, 13), Violated, 1},
		{"in too few of them", lives(2, 10, 11, 12, 13), Held, 0},
		{"the first term is not counted", lives(6, 10, 12, 12), Held, 0},
		{"every fifth time not", func(s *story) {
			lives(4, 10, 10, 11, 12)(s) // eight steps up
			s.resources(9, 9000, "a", 0, 10, 10)
			s.resources(9, 9001, "a", 1, 10, 10)
			s.resources(9, 9002, "a", 2, 10, 10)
			s.resources(9, 9003, "a", 3, 10, 10)
		}, Violated, 1},
		{"more often not", func(s *story) {
			lives(4, 10, 10, 11, 12)(s)
			for terms := range 5 {
				s.resources(9, 9000+terms, "a", terms, 10, 10)
			}
		}, Held, 0},
	})
}
