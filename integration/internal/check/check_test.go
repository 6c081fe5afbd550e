package check

import (
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestAFlawlessRunPasses(t *testing.T) {
	result := flawless().check(t)
	for _, row := range result.Rows {
		if row.Verdict != Held || row.Note == "" || len(row.Findings) > 0 {
			t.Errorf("%s: %s, %q, %v", row.ID, row.Verdict, row.Note, row.Findings)
		}
	}
	if !result.Passed || len(result.Rows) != len(rules) {
		t.Errorf("passed: %t, with %d rows for %d rules", result.Passed, len(result.Rows), len(rules))
	}
}

// Each change breaks the rules named and no other, and the finding names what it must.
func TestEachRuleBreaksByItself(t *testing.T) {
	stale := func(s *story) *history.Return {
		return s.find(func(e history.Event) bool { return e.Return != nil && e.Return.Outcome == history.Refused }).Return
	}
	for _, c := range []struct {
		name   string
		change func(s *story)
		rules  string
		says   string
	}{
		{
			"two leaders", func(s *story) { s.trust("d", 4, 58999, 59100); s.start(1, "d"); s.exit(59900, "d") },
			"one-leader", "c with token 3 and d with token 4 were both trusted for 1ms, from 58.999 s to 59.000 s",
		},
		{
			"a token that falls", func(s *story) { s.trust("b", 1, 59000, 59100) },
			"rising-tokens", "b with token 1, trusted from 59.000 s, came after c with token 3",
		},
		{
			"trust that returns", func(s *story) { s.trust("c", 3, 59001, 59100) },
			"lost-is-lost", "c with token 3 was refused after 59.000 s, and trusted again at 59.001 s",
		},
		{
			"a read of what was overwritten", func(s *story) { s.read("onlooker", 0, 21000, 21001, 101) },
			"register", "onlooker's read of 101 with token 0 (ok)",
		},
		{
			"a stale write is accepted", func(s *story) { stale(s).Outcome = history.OK; s.run().Least.Refused = 0 },
			"", "",
		}, // it was sent before, and may have been done then
		{"a lost increment", func(s *story) {
			s.find(func(e history.Event) bool { return e.Invoke != nil && e.Invoke.Register == "n" && e.Invoke.Value == 3 }).Invoke.Value = 2
			s.find(func(e history.Event) bool { return e.Return != nil && e.Return.Value == 3 && e.Process == "c" }).Return.Value = 2
			s.find(func(e history.Event) bool { return e.Invoke != nil && e.Invoke.Register == "n" && e.Invoke.Value == 4 }).Invoke.Value = 3
			s.find(func(e history.Event) bool { return e.Return != nil && e.Return.Value == 4 }).Return.Value = 3
		}, "counter", "both counted to 2"},
		{
			"a stale write", func(s *story) { s.write("b", 2, 20000, 20001, 300, history.OK); s.read("c", 3, 20003, 20004, 300) },
			"register stale-refused", "b's write of 300 with token 2 (ok) at 20.000 s, accepted after c's",
		},
		{"nobody leads again", func(s *story) {
			s.strike(history.Fault{Number: 3, Kind: "stop", Targets: []string{"s"}}, 59001, 59003)
			s.heal(59004, 496)
		}, "recovery", "healed at 59.004 s, and nobody was trusted until 59.500 s; the bound is 496ms"},
		{"a leak of goroutines", func(s *story) { grow(s, 3, 0) }, "leaks", "c (life 1) held goroutines [20 23 26]"},
		{"a leak of files", func(s *story) { grow(s, 0, 3) }, "leaks", "c (life 1) held open files [10 13 16]"},
		{"a storm", func(s *story) { s.requests(58500, "c", 500, 150) }, "load", "c (life 1) sent 600 requests"},
		{"a crash", func(s *story) {
			s.remove(func(e history.Event) bool { return e.Exit != nil && e.Process == "b" })
		}, "processes", "b (life 1) was last heard of at 10.200 s, and nobody killed it"},
		{"a failure", func(s *story) {
			*s.find(func(e history.Event) bool { return e.Exit != nil && e.Process == "b" }).Exit = history.Exit{Code: 2, Reason: "why"}
		}, "processes", "b (life 1) ended at 59.500 s with status 2: why"},
		{"a weaker grade", func(s *story) {
			s.find(func(e history.Event) bool { return e.Start != nil && e.Process == "b" }).Start.Grade = "best effort"
		}, "grade", `b (life 1) was told "best effort", and the run holds the store to "exclusive"`},
		{"a fault that did nothing", func(s *story) {
			s.strike(history.Fault{Number: 3, Kind: "stop", Targets: []string{"s"}}, 59001, 59003)
			s.find(func(e history.Event) bool { return e.Undone != nil && e.Undone.Number == 3 }).Undone.Effect = ""
		}, "faults", "fault 3, stop of s, begun at 59.001 s, had no effect"},
		{"too little", func(s *story) { s.run().Least.Terms = 4 }, "enough", "3 terms, where 4 prove something"},
	} {
		s := flawless()
		c.change(s)
		result := s.check(t)
		var broken []string
		text := ""
		for _, row := range result.Rows {
			if row.Verdict != Held {
				broken = append(broken, row.ID)
			}
			for _, f := range row.Findings {
				text += f.Text + "\n"
			}
		}
		if got := strings.Join(broken, " "); got != c.rules || !strings.Contains(text, c.says) {
			t.Errorf("%s: broke %q, want %q; findings:\n%swant %q", c.name, got, c.rules, text, c.says)
		}
		if result.Passed != (c.rules == "") {
			t.Errorf("%s: passed is %t", c.name, result.Passed)
		}
	}
}

// grow makes c hold more with each term.
func grow(s *story, goroutines, descriptors int) {
	for _, e := range s.events {
		if e.Resources != nil {
			e.Resources.Goroutines += e.Resources.Terms * goroutines
			e.Resources.Descriptors += e.Resources.Terms * descriptors
		}
	}
}

// What a verdict rests on is told in words and numbers.
func TestNotes(t *testing.T) {
	result := flawless().check(t)
	for id, want := range map[string]string{
		"one-leader":    "0 overlaps; somebody led for 93.9 % of the time",
		"rising-tokens": "3 terms, tokens 1 to 3",
		"lost-is-lost":  "3 terms asked after, through 56.4s of trust",
		"register":      "16 operations, 0 of them in doubt",
		"counter":       "4 increments",
		"stale-refused": "1 operation refused",
		"recovery":      "2 of 2 recoveries judged, the slowest after 1.299s",
		"leaks":         "1 life with samples enough",
		"load":          "156.5 requests a minute for each candidate while nothing was wrong",
		"processes":     "6 lives",
		"grade":         "exclusive, as 4 processes were told",
		"faults":        "2 faults of 2 kinds",
		"enough":        "3 terms, 7 writes, 2 faults, 2 recoveries",
	} {
		if got := result.Row(id).Note; got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		1234567: "1.235ms", 10 * time.Millisecond: "10ms", 12345678: "12ms", 10 * time.Second: "10s", 12345678901: "12.3s",
	} {
		if got := round(d).String(); got != want {
			t.Errorf("%v is rounded to %s, want %s", d, got, want)
		}
	}
}

func TestARunMustBeOne(t *testing.T) {
	run := history.Event{At: 1, Process: "nemesis", Life: 1, Run: &history.Run{TTL: time.Second}}
	for _, events := range [][]history.Event{
		nil,
		{{At: 1, Process: "a", Life: 1, Exit: &history.Exit{}}},
		{run, run},
		{{At: 1, Process: "nemesis", Life: 1, Run: &history.Run{}}},
	} {
		if _, err := Check(events, Options{}); err == nil {
			t.Errorf("no error for %v", events)
		}
	}
	if _, err := Check([]history.Event{run}, Options{AllowUndecided: []string{"leak"}}); err == nil {
		t.Error("a rule that is not there may be undecided")
	}
}

func TestWhatIsUndecidedFailsUnlessAllowed(t *testing.T) {
	s := flawless()
	s.remove(func(e history.Event) bool { return e.Resources != nil })
	result := s.check(t)
	if v := result.Row("leaks").Verdict; v != Undecided || result.Passed {
		t.Errorf("%s, passed: %t", v, result.Passed)
	}
	for id, want := range map[string]bool{"leaks": true, "load": false} {
		allowed, err := Check(s.events, Options{AllowUndecided: []string{id}})
		if err != nil || allowed.Passed != want {
			t.Errorf("with %s allowed to be undecided, passed is not %t: %v", id, want, err)
		}
	}
	grow(s, 1, 1)
	s.trust("b", 4, 58999, 59100)
	if allowed, _ := Check(s.events, Options{AllowUndecided: []string{"leaks", "one-leader"}}); allowed.Passed {
		t.Error("what is allowed to be undecided was allowed to be violated")
	}
}

// Without anything to judge no rule holds, but those that find nothing wrong with what little there is.
func TestAnEmptyRunProvesNothing(t *testing.T) {
	result := opening(1000).check(t)
	for _, row := range result.Rows {
		if want := Undecided; row.Verdict != want && row.ID != "processes" {
			t.Errorf("%s: %s of an empty run", row.ID, row.Verdict)
		}
	}
	if result.Passed {
		t.Error("an empty run passed")
	}
}
