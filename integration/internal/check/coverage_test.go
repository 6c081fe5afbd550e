package check

import (
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestFaults(t *testing.T) {
	stop := history.Fault{Number: 1, Kind: "stop", Targets: []string{"a"}, Freezes: true}
	kill := history.Fault{Number: 1, Kind: "kill", Targets: []string{"a"}, Kills: true}
	undone := func(s *story) *history.Undone {
		return s.find(func(e history.Event) bool { return e.Undone != nil }).Undone
	}
	tellings(t, "faults", []telling{
		{"struck", func(s *story) { s.strike(stop, 500, 600) }, Held, 0},
		{"planned and struck", func(s *story) { s.run().Faults = []string{"stop"}; s.strike(stop, 500, 600) }, Held, 0},
		{"planned, another struck", func(s *story) { s.run().Faults = []string{"kill"}; s.strike(stop, 500, 600) }, Violated, 1},
		{"planned, none struck", func(s *story) {
			s.run().Faults = []string{"stop"}
			s.strike(stop, 500, 600)
			undone(s).Effect = ""
		}, Violated, 2},
		{"no effect", func(s *story) { s.strike(stop, 500, 600); undone(s).Effect = "" }, Violated, 1},
		{"never in force", func(s *story) { s.strike(stop, 500, 600); undone(s).From, undone(s).To = 0, 0 }, Violated, 1},
		{"went wrong", func(s *story) { s.strike(stop, 500, 600); undone(s).Error = "why" }, Violated, 1},
		{"planned, and went wrong", func(s *story) {
			s.run().Faults = []string{"stop"}
			s.strike(stop, 500, 600)
			undone(s).Error = "why"
		}, Violated, 2},
		{"never undone", func(s *story) { s.say(500, "nemesis", history.Event{Fault: &stop}) }, Violated, 1},
		{"in force before it began", func(s *story) { s.strike(stop, 500, 600); undone(s).From = at(499) }, Violated, 1},
		{"in force from its beginning", func(s *story) { s.strike(stop, 500, 600); undone(s).From = at(500) }, Held, 0},
		{"in force after its end", func(s *story) { s.strike(stop, 500, 600); undone(s).To = at(601) }, Violated, 1},
		{"in force until its end", func(s *story) { s.strike(stop, 500, 600); undone(s).To = at(600) }, Held, 0},
		{"in force backwards", func(s *story) { s.strike(stop, 500, 600); undone(s).From = at(599).Add(1) }, Violated, 1},
		{"spoke while stopped", func(s *story) { s.strike(stop, 500, 600); s.stall("a", 501, 502) }, Violated, 1},
		{"spoke as it was stopped and woken", func(s *story) {
			s.strike(stop, 500, 600)
			s.stall("a", 500, 501)
			s.stall("a", 502, 599)
		}, Held, 0},
		{"another spoke while it was stopped", func(s *story) { s.strike(stop, 500, 600); s.stall("b", 501, 550) }, Held, 0},
		{"a fault that does not stop", func(s *story) {
			s.strike(history.Fault{Number: 1, Kind: "cut", Targets: []string{"a"}}, 500, 600)
			s.stall("a", 501, 550)
		}, Held, 0},
		{"spoke after the kill", func(s *story) {
			s.start(1, "a")
			s.strike(kill, 500, 600)
			s.stall("a", 501, 550)
		}, Violated, 2}, // and so it was not killed
		{"born as it was killed", func(s *story) {
			s.start(1, "a")
			s.strike(kill, 500, 600)
			s.startAs(2, 501, "a", "exclusive")
			s.sayIn(2, 900, "a", history.Event{Exit: &history.Exit{}})
		}, Held, 0},
		{"spoke until it was killed", func(s *story) { s.start(1, "a"); s.stall("a", 501, 501); s.strike(kill, 500, 600) }, Held, 0},
		{"a kill that killed", func(s *story) { s.start(1, "a"); s.strike(kill, 500, 600) }, Held, 0},
		{"a kill that met nobody", func(s *story) { s.start(1, "a"); s.exit(400, "a"); s.strike(kill, 500, 600) }, Violated, 1},
		{"the kill of a server", func(s *story) { s.strike(kill, 500, 600) }, Held, 0},
		{"none", func(*story) {}, Undecided, 0},
	})
}

func TestEnough(t *testing.T) {
	done := func(s *story) {
		s.trust("a", 1, 100, 200)
		s.say(90, "a", history.Event{Elected: &history.Elected{Token: 9, Session: "a-session"}}) // no trust, no term
		s.write("a", 1, 110, 120, 7, history.OK)
		s.read("a", 1, 130, 140, 7) // no write
		s.read("a", 1, 141, 142, 7)
		s.write("a", 1, 150, 160, 8, history.Refused)
		s.strike(history.Fault{Number: 1, Kind: "stop", Targets: []string{"s"}}, 500, 600)
		s.heal(700, 500)
		s.heal(2000, 500)
		s.trust("b", 2, 800, 900)
	}
	least := func(l history.Least) func(*story) {
		return func(s *story) { done(s); s.run().Least = l }
	}
	tellings(t, "enough", []telling{
		{"just enough", least(history.Least{Terms: 2, Writes: 1, Refused: 1, Faults: 1, Heals: 1}), Held, 0},
		{"terms", least(history.Least{Terms: 3}), Violated, 1},
		{"writes", least(history.Least{Writes: 2}), Violated, 1},
		{"refused", least(history.Least{Refused: 2}), Violated, 1},
		{"faults", least(history.Least{Faults: 2}), Violated, 1},
		{"faults that went wrong", func(s *story) {
			least(history.Least{Faults: 1})(s)
			s.find(func(e history.Event) bool { return e.Undone != nil }).Undone.Error = "why"
		}, Violated, 1},
		{"recoveries", least(history.Least{Heals: 2}), Violated, 1},
		{"all", least(history.Least{Terms: 3, Writes: 2, Refused: 2, Faults: 2, Heals: 2}), Violated, 5},
		{"nothing asked", done, Undecided, 0},
	})
}
