package report

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// sample is a history that is made up: candidates lead in turn, and a fault ends most terms.
type sample struct {
	events     []history.Event
	lives      map[string]int
	operations int
}

func at(ms int) history.Instant {
	return history.Instant(time.Hour).Add(time.Duration(ms) * time.Millisecond)
}

func (s *sample) say(ms int, process string, e history.Event) {
	e.At, e.Process, e.Life = at(ms), process, max(1, s.lives[process])
	s.events = append(s.events, e)
}

func (s *sample) start(ms int, process string) {
	s.lives[process]++
	s.say(ms, process, history.Event{Start: &history.Start{Grade: s.events[0].Run.Grade}})
}

func (s *sample) trust(process string, token uint64, from, to int) {
	s.say(to, process, history.Event{Trust: &history.Trust{
		From: at(from), To: at(to), Token: token, Session: fmt.Sprint(process, s.lives[process]),
	}})
}

func (s *sample) write(ms int, process string, token uint64, outcome string) {
	s.operations++
	s.say(ms, process, history.Event{Invoke: &history.Invoke{
		Operation: s.operations, Kind: history.Write, Register: "x", Token: token, Value: int64(s.operations),
	}})
	if outcome != "" { // else it is never heard of again
		s.say(ms+1, process, history.Event{Return: &history.Return{Operation: s.operations, Outcome: outcome}})
	}
}

func (s *sample) strike(f history.Fault, from, to int) {
	undone := &history.Undone{Number: f.Number, From: at(from + 1), To: at(to - 1), Effect: "seen, by 3 signs"}
	if f.Kills {
		undone.To = undone.From
	}
	s.say(from, "nemesis", history.Event{Fault: &f})
	s.say(to, "nemesis", history.Event{Undone: undone})
}

// newSample tells of a run of so many minutes.
func newSample(minutes int) *sample {
	end := minutes * 60000
	s := &sample{lives: map[string]int{}}
	s.say(0, "nemesis", history.Event{Run: &history.Run{
		Store: "redis with a replica", Server: "Redis 7.0.15, Sentinel", Grade: "exclusive until fail-over",
		Reasons: []string{"replicas are written to asynchronously"}, Seed: 42, TTL: 3 * time.Second, Candidates: 4,
		Command: "go run ./integration/cmd/tenure-chaos -store redis-replica -seed 42 -for 10m",
		Began:   time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC), Lasts: time.Duration(minutes) * time.Minute,
		Machine: map[string]string{"processors": "2"}, Versions: map[string]string{"go": "go1.26", "tenure": "<abc>"},
		Least: history.Least{Terms: 2}, Load: history.Load{Leader: 80, Follower: 60, Fault: 600, Change: 20},
	}})
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		s.start(1, name)
	}
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []history.Fault{
		{Kind: "kill -9", Kills: true},
		{Kind: "SIGSTOP", Freezes: true},
		{Kind: "partition"},
		{Kind: "replies held, then dropped"},
		{Kind: "server frozen", Targets: []string{"redis-1"}},
		{Kind: "fail-over", Targets: []string{"redis-1"}, Loses: true},
	}
	token, now, fault := uint64(0), 500, 0
	sent := map[string]uint64{}
	for now < end-25000 {
		token++
		leader := names[random.IntN(len(names))]
		until := now + 3000 + random.IntN(12000)
		s.trust(leader, token, now, until)
		for ms := now + 100; ms < until-50; ms += 500 {
			s.write(ms, leader, token, history.OK)
		}
		fault++
		f := kinds[random.IntN(len(kinds))]
		f.Number = fault
		if f.Targets == nil {
			f.Targets = []string{leader}
		}
		lasts := 1500 + random.IntN(4000)
		s.strike(f, until+10, until+10+lasts)
		switch {
		case f.Kills:
			s.start(until+20+lasts, leader)
		case f.Freezes:
			s.write(until+lasts+12, leader, token, history.Refused)
		}
		if random.IntN(3) == 0 {
			fault++
			s.strike(history.Fault{Number: fault, Kind: "CPU starved", Targets: []string{leader, "redis-1"}}, until+500, until+1500)
		}
		now = until + 10 + lasts + 100
		if now < end-25000 {
			s.say(now-80, "nemesis", history.Event{Healed: &history.Healed{Bound: 5 * time.Second}})
		}
		now += random.IntN(1500)
		// A write of the next term, so that the last one's come too late.
		s.write(until+lasts, names[(slices.Index(names, leader)+1)%4], token+1, history.OK)
		for _, name := range names {
			sent[name] += uint64(3 + random.IntN(6))
			s.say(until+9+lasts, name, history.Event{Requests: &history.Requests{Loads: sent[name]}})
		}
	}
	for _, name := range names {
		s.say(end-100, name, history.Event{Exit: &history.Exit{}})
	}
	s.say(end, "nemesis", history.Event{Finish: &history.Finish{}})
	return s
}

func (s *sample) check(t *testing.T) *check.Result {
	t.Helper()
	events := slices.Clone(s.events)
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	result, err := check.Check(events, check.Options{AllowUndecided: []string{"counter", "leaks", "load"}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}
