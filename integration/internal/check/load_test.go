package check

import (
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestLoad(t *testing.T) {
	// Twenty a minute for a leader, six for a follower, sixty while something is wrong, two for a change.
	rated := func(tell func(s *story)) func(*story) {
		return func(s *story) {
			s.run().Load = history.Load{Leader: 20, Follower: 6, Fault: 60, Change: 2}
			tell(s)
		}
	}
	stop := history.Fault{Number: 1, Kind: "stop", Targets: []string{"b"}}
	tellings(t, "load", []telling{
		// 6 for the minute, 3 to spare, 2 for a change.
		{"a follower's", rated(func(s *story) { s.requests(0, "a", 0, 0); s.requests(60000, "a", 11, 0) }), Held, 0},
		{"more than a follower's", rated(func(s *story) { s.requests(0, "a", 0, 0); s.requests(60000, "a", 12, 0) }), Violated, 1},
		{"swaps count", rated(func(s *story) { s.requests(0, "a", 0, 0); s.requests(60000, "a", 6, 6) }), Violated, 1},
		{"watches count", rated(func(s *story) {
			s.requests(0, "a", 0, 0)
			s.requests(60000, "a", 6, 0)
			s.events[len(s.events)-1].Requests.Watches = 6
		}), Violated, 1},
		{"only what is new counts", rated(func(s *story) { s.requests(0, "a", 500, 0); s.requests(60000, "a", 511, 0) }), Held, 0},
		// 10 for half a minute of leading, 3 for the rest, 3 to spare, and 4 for the change.
		{"a leader's", rated(func(s *story) {
			s.trust("a", 1, 10000, 40000)
			s.requests(0, "a", 0, 0)
			s.requests(60000, "a", 20, 0)
		}), Held, 0},
		{"more than a leader's", rated(func(s *story) {
			s.trust("a", 1, 10000, 40000)
			s.requests(0, "a", 0, 0)
			s.requests(60000, "a", 21, 0)
		}), Violated, 1},
		{"another's lead is no lead", rated(func(s *story) {
			s.trust("b", 1, 10000, 40000)
			s.requests(0, "a", 0, 0)
			s.requests(60000, "a", 14, 0)
		}), Violated, 1},
		{"a change before the window", rated(func(s *story) {
			s.trust("b", 1, 29999, 30001)
			s.requests(30000, "a", 0, 0)
			s.requests(60000, "a", 9, 0)
		}), Violated, 1},
		{"a change at its beginning", rated(func(s *story) {
			s.trust("b", 1, 30000, 30001)
			s.requests(30000, "a", 0, 0)
			s.requests(60000, "a", 10, 0)
		}), Held, 0},
		{"a change at its end", rated(func(s *story) {
			s.trust("b", 1, 50000, 50001)
			s.requests(20000, "a", 0, 0)
			s.requests(50000, "a", 10, 0)
		}), Held, 0},
		{"a change after it", rated(func(s *story) {
			s.trust("b", 1, 50001, 50002)
			s.requests(20000, "a", 0, 0)
			s.requests(50000, "a", 9, 0)
		}), Violated, 1},
		{"windows in a row are one", rated(func(s *story) {
			s.requests(0, "a", 0, 0)
			s.requests(30000, "a", 11, 0)
			s.requests(60000, "a", 11, 0)
		}), Held, 0},
		{"lives are not", rated(func(s *story) {
			s.requests(0, "a", 0, 0)
			s.requests(30000, "a", 9, 0)
			s.sayIn(2, 30001, "a", history.Event{Requests: &history.Requests{Loads: 100}})
			s.sayIn(2, 59999, "a", history.Event{Requests: &history.Requests{Loads: 100}})
		}), Violated, 1},
		// Ten seconds of a fault, and one more to settle.
		{"a fault's", rated(func(s *story) {
			s.strike(stop, 20000, 30000)
			s.requests(20000, "a", 0, 0)
			s.requests(31000, "a", 16, 0)
			s.requests(31001, "a", 16, 0)
			s.requests(60000, "a", 16, 0)
		}), Held, 0},
		{"more than a fault's", rated(func(s *story) {
			s.strike(stop, 20000, 30000)
			s.requests(20000, "a", 0, 0)
			s.requests(31000, "a", 17, 0)
			s.requests(31001, "a", 17, 0)
			s.requests(60000, "a", 17, 0)
		}), Violated, 1},
		{"settled after a TTL", rated(func(s *story) {
			s.strike(stop, 20000, 30000)
			s.requests(31001, "a", 0, 0)
			s.requests(41001, "a", 7, 0)
		}), Violated, 1},
		{"not sooner", rated(func(s *story) {
			s.strike(stop, 20000, 30000)
			s.requests(1, "b", 0, 0) // so that something was counted while nothing was wrong
			s.requests(2, "b", 0, 0)
			s.requests(31000, "a", 0, 0)
			s.requests(41000, "a", 7, 0)
		}), Held, 0},
		{"only while something was wrong", rated(func(s *story) {
			s.strike(stop, 100, 60000)
			s.requests(100, "a", 0, 0)
			s.requests(60000, "a", 0, 0)
		}), Undecided, 0},
		{"no ceiling", func(s *story) { s.requests(0, "a", 0, 0); s.requests(60000, "a", 0, 0) }, Undecided, 0},
		{"no ceiling for leaders", func(s *story) {
			s.run().Load = history.Load{Follower: 6, Fault: 60}
			s.requests(0, "a", 0, 0)
			s.requests(60000, "a", 0, 0)
		}, Undecided, 0},
		{"no ceiling for faults", func(s *story) {
			s.run().Load = history.Load{Leader: 20, Follower: 6}
			s.requests(0, "a", 0, 0)
			s.requests(60000, "a", 0, 0)
		}, Undecided, 0},
		{"one count is none", rated(func(s *story) { s.requests(0, "a", 500, 0) }), Undecided, 0},
	})
}
