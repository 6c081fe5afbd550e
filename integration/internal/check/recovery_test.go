package check

import (
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestRecovery(t *testing.T) {
	stop := func(s *story, n, from, to int, target string) {
		s.strike(history.Fault{Number: n, Kind: "stop", Targets: []string{target}}, from, to)
	}
	tellings(t, "recovery", []telling{
		{"led all the time", func(s *story) { s.trust("a", 1, 100, 9000); s.heal(5000, 500) }, Held, 0},
		{"just in time", func(s *story) { s.heal(5000, 500); s.trust("a", 1, 5500, 9000) }, Held, 0},
		{"just too late", func(s *story) { s.heal(5000, 500); s.trust("a", 1, 5501, 9000) }, Violated, 1},
		{"only before", func(s *story) { s.trust("a", 1, 100, 5000); s.heal(5000, 500) }, Violated, 1},
		{"never", func(s *story) { s.heal(5000, 500) }, Violated, 1},
		{"once of two", func(s *story) { s.heal(5000, 500); s.heal(7000, 500); s.trust("a", 1, 7200, 9000) }, Violated, 1},
		{"the machine stood still for a while", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 5100, 5301)
			s.trust("a", 1, 5701, 9000)
		}, Held, 0},
		{"but not for that long", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 5100, 5300)
			s.trust("a", 1, 5701, 9000)
		}, Violated, 1},
		{"it stood still from before", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 4000, 5200)
			s.trust("a", 1, 5701, 9000)
		}, Violated, 1},
		{"it stood still until before", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 4000, 5000)
			s.trust("a", 1, 5501, 9000)
		}, Violated, 1},
		{"it stood still only later", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 5500, 5800)
			s.trust("a", 1, 5501, 9000)
		}, Violated, 1},
		{"two stood still at once", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 5100, 5200)
			s.stall("b", 5150, 5250)
			s.trust("a", 1, 5651, 9000)
		}, Violated, 1},
		{"one stood still within another's stall", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 5100, 5300)
			s.stall("b", 5150, 5200)
			s.trust("a", 1, 5700, 9000)
		}, Held, 0},
		{"one stall makes room for another", func(s *story) {
			s.heal(5000, 500)
			s.stall("nemesis", 5400, 5600)
			s.stall("nemesis", 5650, 5750)
			s.trust("a", 1, 5800, 9000)
		}, Held, 0},
		{"what was stopped did not stall", func(s *story) {
			stop(s, 1, 4000, 4999, "b")
			s.stall("b", 4999, 5400)
			s.heal(5000, 500)
			s.trust("a", 1, 5501, 9000)
		}, Violated, 1},
		{"another that was not stopped did", func(s *story) {
			stop(s, 1, 4000, 4999, "c")
			s.stall("b", 4999, 5400)
			s.heal(5000, 500)
			s.trust("a", 1, 5501, 9000)
		}, Held, 0},
		{"the next fault came first", func(s *story) { s.heal(5000, 500); stop(s, 1, 5500, 5600, "b") }, Undecided, 0},
		{"the next fault came later", func(s *story) { s.heal(5000, 500); stop(s, 1, 5501, 5600, "b") }, Violated, 1},
		{"the last fault was just over", func(s *story) { s.heal(5000, 500); stop(s, 1, 4000, 5000, "b") }, Violated, 1},
		{"the last fault was not over", func(s *story) { s.heal(5000, 500); stop(s, 1, 4000, 5001, "b") }, Undecided, 0},
		{"somebody led in spite of the next fault", func(s *story) {
			s.heal(5000, 500)
			stop(s, 1, 5100, 5600, "b")
			s.trust("a", 1, 5400, 9000)
		}, Held, 0},
		{"the run was over first", func(s *story) { s.heal(59501, 500) }, Undecided, 0},
		{"the run was over just then", func(s *story) { s.heal(59500, 500) }, Violated, 1},
		{"too busy a machine", func(s *story) { s.heal(5000, 500); s.stall("nemesis", 5100, 6101) }, Undecided, 0},
		{"a busy machine", func(s *story) { s.heal(5000, 500); s.stall("nemesis", 5100, 6100) }, Violated, 1},
		{"no healing", func(s *story) { s.trust("a", 1, 100, 9000) }, Undecided, 0},
	})
}
