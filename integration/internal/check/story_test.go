package check

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// story is a history that is made up. Its times are milliseconds of the run.
type story struct {
	events     []history.Event
	operations int
}

func at(ms int) history.Instant {
	return history.Instant(time.Hour).Add(time.Duration(ms) * time.Millisecond)
}

// say adds an event of a process in its first life.
func (s *story) say(ms int, process string, e history.Event) { s.sayIn(1, ms, process, e) }

func (s *story) sayIn(life, ms int, process string, e history.Event) {
	e.At, e.Process, e.Life = at(ms), process, life
	s.events = append(s.events, e)
}

func (s *story) start(ms int, process string) { s.startAs(1, ms, process, "exclusive") }

func (s *story) startAs(life, ms int, process, grade string) {
	s.sayIn(life, ms, process, history.Event{Start: &history.Start{Grade: grade}})
}

func (s *story) exit(ms int, process string) {
	s.say(ms, process, history.Event{Exit: &history.Exit{}})
}

// trust is written down when it ends.
func (s *story) trust(process string, token uint64, from, to int) {
	s.trustIn(1, process, token, from, to)
}

func (s *story) trustIn(life int, process string, token uint64, from, to int) {
	s.sayIn(life, to, process, history.Event{Trust: &history.Trust{
		From: at(from), To: at(to), Token: token, Session: process + "-session",
	}})
}

// command is a life of a command under a supervisor: it starts when its trust begins, and its last word is its trust.
func (s *story) command(life int, process, supervisor string, token uint64, from, to int) {
	s.sayIn(life, from, process, history.Event{Start: &history.Start{Kind: Command, Session: supervisor}})
	s.sayIn(life, to, process, history.Event{Trust: &history.Trust{
		From: at(from), To: at(to), Token: token, Session: supervisor,
	}})
}

// operate does something with a register, and returns the events so that a test can change them.
func (s *story) operate(process string, from, to int, invoke history.Invoke, outcome string, read int64) {
	s.operations++
	invoke.Operation = s.operations
	if invoke.Register == "" {
		invoke.Register = "x"
	}
	s.say(from, process, history.Event{Invoke: &invoke})
	if outcome != "" { // else it is never heard of again
		s.say(to, process, history.Event{Return: &history.Return{
			Operation: invoke.Operation, Outcome: outcome, Value: read,
		}})
	}
}

func (s *story) write(process string, token uint64, from, to int, value int64, outcome string) {
	s.operate(process, from, to, history.Invoke{Kind: history.Write, Token: token, Value: value}, outcome, 0)
}

func (s *story) read(process string, token uint64, from, to int, value int64) {
	s.operate(process, from, to, history.Invoke{Kind: history.Read, Token: token}, history.OK, value)
}

// count reads a counter and writes one more.
func (s *story) count(process string, token uint64, from int, before int64, outcome string) {
	counter := history.Invoke{Kind: history.Read, Token: token, Register: "n", Counter: true}
	s.operate(process, from, from+1, counter, history.OK, before)
	counter.Kind, counter.Value = history.Write, before+1
	s.operate(process, from+2, from+3, counter, outcome, 0)
}

func (s *story) countRead(process string, token uint64, from int, value int64) {
	s.operate(process, from, from+1, history.Invoke{
		Kind: history.Read, Token: token, Register: "n", Counter: true,
	}, history.OK, value)
}

// strike adds a fault that is in force from one millisecond after from until one before to.
func (s *story) strike(f history.Fault, from, to int) {
	undone := &history.Undone{Number: f.Number, From: at(from + 1), To: at(to - 1), Effect: "seen"}
	if f.Kills {
		undone.To = undone.From
	}
	s.say(from, "nemesis", history.Event{Fault: &f})
	s.say(to, "nemesis", history.Event{Undone: undone})
}

func (s *story) heal(ms, bound int) {
	s.say(ms, "nemesis", history.Event{Healed: &history.Healed{Bound: time.Duration(bound) * time.Millisecond}})
}

func (s *story) stall(process string, from, to int) {
	s.say(to, process, history.Event{Stall: &history.Stall{From: at(from), To: at(to)}})
}

func (s *story) requests(ms int, process string, loads, swaps uint64) {
	s.say(ms, process, history.Event{Requests: &history.Requests{Loads: loads, Swaps: swaps}})
}

// resources adds a sample of a life after so many terms.
func (s *story) resources(life, ms int, process string, terms, goroutines, descriptors int) {
	s.sayIn(life, ms, process, history.Event{Resources: &history.Resources{
		Goroutines: goroutines, Descriptors: descriptors, Terms: terms,
	}})
}

func (s *story) find(which func(history.Event) bool) *history.Event {
	if i := slices.IndexFunc(s.events, which); i >= 0 {
		return &s.events[i]
	}
	panic("the story has no such event")
}

func (s *story) run() *history.Run {
	return s.find(func(e history.Event) bool { return e.Run != nil }).Run
}

func (s *story) remove(which func(history.Event) bool) { s.events = slices.DeleteFunc(s.events, which) }

// check judges the story.
func (s *story) check(t *testing.T) *Result {
	t.Helper()
	events := slices.Clone(s.events)
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	result, err := Check(events, Options{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// opening is a story with nothing but its first and last events, at 0 and end. The TTL is a second.
func opening(end int) *story {
	s := &story{}
	s.say(0, "nemesis", history.Event{Run: &history.Run{Store: "a register", Grade: "exclusive", TTL: time.Second}})
	s.say(end, "nemesis", history.Event{Finish: &history.Finish{}})
	return s
}

// flawless is a story in which every rule holds, and each has something to judge: a leads, is killed, b follows and is
// stopped, c follows, and b's late write is refused.
func flawless() *story {
	s := opening(60000)
	*s.run() = history.Run{
		Store: "a register", Grade: "exclusive", TTL: time.Second, Faults: []string{"kill", "stop"},
		Least: history.Least{Terms: 3, Writes: 5, Refused: 1, Faults: 2, Heals: 2},
		Load:  history.Load{Leader: 200, Follower: 60, Fault: 600, Change: 4},
	}
	for _, p := range []string{"a", "b", "c"} {
		s.start(1, p)
	}
	s.requests(2, "c", 0, 0)
	s.trust("a", 1, 100, 5000)
	s.write("a", 1, 200, 210, 100, history.OK)
	s.read("a", 1, 220, 230, 100)
	s.count("a", 1, 240, 0, history.OK)
	s.count("a", 1, 260, 1, history.OK)
	s.strike(history.Fault{Number: 1, Kind: "kill", Targets: []string{"a"}, Kills: true}, 5100, 5200)
	s.startAs(2, 5150, "a", "exclusive")
	s.heal(5201, 2000)
	s.trust("b", 2, 6500, 9000)
	s.write("b", 2, 6600, 6610, 101, history.OK)
	s.count("b", 2, 6620, 2, history.OK)
	s.operate("b", 8990, 10200, history.Invoke{Kind: history.Write, Token: 2, Value: 102}, history.Refused, 0)
	s.strike(history.Fault{Number: 2, Kind: "stop", Targets: []string{"b"}, Freezes: true}, 9010, 10190)
	s.heal(10191, 2000)
	s.trust("c", 3, 10050, 59000)
	s.write("c", 3, 10060, 10070, 103, history.OK)
	s.read("c", 3, 10080, 10090, 103)
	s.count("c", 3, 10300, 3, history.OK)
	s.read("onlooker", 0, 20000, 20010, 103)
	s.countRead("c", 3, 20020, 4)
	for i := range 6 {
		s.resources(1, 12000+i*1000, "c", i/2, 20, 10)
	}
	s.requests(12000, "c", 20, 30)
	s.requests(58000, "c", 20, 150)
	s.sayIn(2, 59500, "a", history.Event{Exit: &history.Exit{}})
	for _, p := range []string{"b", "c", "onlooker"} {
		s.exit(59500, p)
	}
	return s
}
