package check

import (
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestProcesses(t *testing.T) {
	kill := func(s *story, from, to int, target string) {
		s.strike(history.Fault{Number: 1, Kind: "kill", Targets: []string{target}, Kills: true}, from, to)
	}
	fault := func(s *story) *history.Fault {
		return s.find(func(e history.Event) bool { return e.Fault != nil }).Fault
	}
	undone := func(s *story) *history.Undone {
		return s.find(func(e history.Event) bool { return e.Undone != nil }).Undone
	}
	tellings(t, "processes", []telling{
		{"told to end", func(s *story) { s.start(1, "a"); s.exit(500, "a") }, Held, 0},
		{"vanished", func(s *story) { s.start(1, "a") }, Violated, 1},
		{"killed", func(s *story) { s.start(1, "a"); kill(s, 500, 600, "a") }, Held, 0},
		{"killed and born again", func(s *story) {
			s.start(1, "a")
			kill(s, 500, 600, "a")
			s.startAs(2, 501, "a", "exclusive")
			s.sayIn(2, 900, "a", history.Event{Exit: &history.Exit{}})
		}, Held, 0},
		{"another was killed", func(s *story) { s.start(1, "a"); kill(s, 500, 600, "b") }, Violated, 1},
		{"killed only after it had been born again", func(s *story) {
			s.start(1, "a")
			kill(s, 500, 600, "a")
			s.startAs(2, 500, "a", "exclusive")
			s.sayIn(2, 900, "a", history.Event{Exit: &history.Exit{}})
		}, Violated, 1},
		{"spoke after it was killed", func(s *story) { s.start(502, "a"); kill(s, 500, 600, "a") }, Violated, 1},
		{"spoke until it was killed", func(s *story) { s.start(501, "a"); kill(s, 500, 600, "a") }, Held, 0},
		{"a fault that does not kill", func(s *story) { s.start(1, "a"); kill(s, 500, 600, "a"); fault(s).Kills = false }, Violated, 1},
		{"a kill that did not strike", func(s *story) { s.start(1, "a"); kill(s, 500, 600, "a"); undone(s).Effect = "" }, Violated, 1},
		{"an exit that is no kill's", func(s *story) {
			s.start(1, "a")
			s.say(400, "a", history.Event{Exit: &history.Exit{Code: 1}})
			kill(s, 500, 600, "a")
		}, Violated, 1},
		{"a command ends with its term", func(s *story) {
			s.start(1, "a")
			s.find(func(e history.Event) bool { return e.Start != nil }).Start.Kind = Command
		}, Held, 0},
		{"led without a start", func(s *story) { s.trust("a", 1, 100, 200); s.exit(500, "a") }, Violated, 1},
		{"looked on without a start", func(s *story) { s.read("o", 0, 1, 2, 0); s.exit(500, "o") }, Held, 0},
		{"went on after its exit", func(s *story) { s.start(1, "a"); s.exit(500, "a"); s.stall("a", 500, 501) }, Violated, 1},
		{"the nemesis did not finish", func(s *story) { s.remove(func(e history.Event) bool { return e.Finish != nil }) }, Violated, 1},
		{"the nemesis gave up", func(s *story) {
			s.find(func(e history.Event) bool { return e.Finish != nil }).Finish.Error = "why"
		}, Violated, 1},
		{"a fault twice", func(s *story) {
			s.say(500, "nemesis", history.Event{Fault: &history.Fault{Number: 1}})
			s.say(501, "nemesis", history.Event{Fault: &history.Fault{Number: 1}})
		}, Violated, 1},
		{"undone without a fault", func(s *story) { s.say(500, "nemesis", history.Event{Undone: &history.Undone{Number: 1}}) }, Violated, 1},
		{"undone twice", func(s *story) { kill(s, 500, 600, "b"); s.say(700, "nemesis", history.Event{Undone: undone(s)}) }, Violated, 1},
		{"an operation twice", func(s *story) {
			s.read("o", 0, 1, 2, 0)
			s.say(3, "o", history.Event{Invoke: &history.Invoke{Operation: 1, Kind: history.Read}})
			s.exit(500, "o")
		}, Violated, 1},
		{"a return without an operation", func(s *story) {
			s.say(3, "o", history.Event{Return: &history.Return{Operation: 1, Outcome: history.OK}})
			s.exit(500, "o")
		}, Violated, 1},
		{"two returns", func(s *story) {
			s.write("a", 1, 1, 2, 7, history.Unknown)
			s.say(3, "a", history.Event{Return: &history.Return{Operation: 1, Outcome: history.OK}})
			s.exit(500, "a")
		}, Violated, 1},
		{"an outcome that is none", func(s *story) { s.write("a", 1, 1, 2, 7, "maybe"); s.exit(500, "a") }, Violated, 1},
		{"a write without a token", func(s *story) { s.write("a", 0, 1, 2, 7, ""); s.exit(500, "a") }, Violated, 1},
		{"neither read nor write", func(s *story) {
			s.operate("a", 1, 2, history.Invoke{Kind: "erase", Token: 1}, "", 0)
			s.exit(500, "a")
		}, Violated, 1},
	})
}

func TestGrade(t *testing.T) {
	tellings(t, "grade", []telling{
		{"the same", func(s *story) { s.start(1, "a") }, Held, 0},
		{"a stronger one", func(s *story) { s.run().Grade = "best effort"; s.start(1, "a") }, Violated, 1},
		{"not told", func(s *story) { s.startAs(1, 1, "a", "") }, Undecided, 0},
		{"one was not told", func(s *story) { s.start(1, "a"); s.startAs(1, 1, "b", "") }, Held, 0},
	})
}
