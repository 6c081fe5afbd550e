package check

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// verdictOf judges a story by one rule, and counts its findings.
func verdictOf(t *testing.T, s *story, rule string) (Verdict, int) {
	t.Helper()
	row := s.check(t).Row(rule)
	if row.ID == "" {
		t.Fatalf("there is no rule %q", rule)
	}
	return row.Verdict, len(row.Findings)
}

// telling is a story that one rule is to judge in one way.
type telling struct {
	name  string
	tell  func(s *story)
	want  Verdict
	finds int
}

func tellings(t *testing.T, rule string, all []telling) {
	t.Helper()
	for _, c := range all {
		s := opening(60000)
		c.tell(s)
		if got, n := verdictOf(t, s, rule); got != c.want || n != c.finds {
			t.Errorf("%s: %s with %d findings, want %s with %d", c.name, got, n, c.want, c.finds)
		}
	}
}

// loss makes the store one that may lose writes from 2000 to 3000, so that a leader may not know it until 4000.
func loss(s *story) {
	s.run().Grade = "exclusive until fail-over"
	s.strike(history.Fault{Number: 1, Kind: "fail-over", Targets: []string{"server"}, Loses: true}, 2000, 3000)
}

func TestOneLeader(t *testing.T) {
	tellings(t, "one-leader", []telling{
		{"spans that touch", func(s *story) { s.trust("a", 1, 100, 200); s.trust("b", 2, 200, 300) }, Held, 0},
		{"a millisecond in common", func(s *story) { s.trust("a", 1, 100, 201); s.trust("b", 2, 200, 300) }, Violated, 1},
		{"one within the other", func(s *story) { s.trust("a", 1, 100, 900); s.trust("b", 2, 200, 300) }, Violated, 1},
		{"the same span", func(s *story) { s.trust("a", 1, 100, 200); s.trust("b", 2, 100, 200) }, Violated, 1},
		{"the lower token later", func(s *story) { s.trust("b", 2, 100, 201); s.trust("a", 1, 200, 300) }, Violated, 1},
		{"one token, two processes", func(s *story) { s.trust("a", 1, 100, 201); s.trust("b", 1, 200, 300) }, Violated, 1},
		{"two lives of one process", func(s *story) { s.trustIn(1, "a", 1, 100, 201); s.trustIn(2, "a", 2, 200, 300) }, Violated, 1},
		{"two sessions of one life", func(s *story) {
			s.trust("a", 1, 100, 201)
			s.trust("a", 2, 200, 300)
			s.events[len(s.events)-1].Trust.Session = "another"
		}, Violated, 1},
		{"one session by itself", func(s *story) { s.trust("a", 1, 100, 201); s.trust("a", 2, 200, 300) }, Held, 0},
		{"a command that is started again", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.command(2, "a", "a.1", 1, 201, 300)
		}, Held, 0},
		{"two commands of a supervisor", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 202)
			s.command(2, "a", "a.1", 1, 201, 300)
		}, Violated, 1},
		{"another one leads before a command is started again", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.trust("b", 2, 201, 303)
			s.command(2, "a", "a.1", 1, 302, 400)
		}, Violated, 1},
		{"three at once", func(s *story) {
			s.trust("a", 1, 100, 400)
			s.trust("b", 2, 200, 400)
			s.trust("c", 3, 300, 400)
		}, Violated, 3},
		{"a long one over two", func(s *story) {
			s.trust("a", 1, 100, 900)
			s.trust("b", 2, 200, 300)
			s.trust("c", 3, 400, 500)
		}, Violated, 2},
		{"pieces count once", func(s *story) {
			s.trust("a", 1, 100, 150)
			s.trust("a", 1, 150, 250)
			s.trust("b", 2, 120, 200)
			s.trust("b", 2, 200, 240)
		}, Violated, 1},
		{"a gap belongs to nobody", func(s *story) {
			s.trust("a", 1, 100, 200)
			s.trust("b", 2, 210, 240)
			s.trust("a", 1, 250, 300)
		}, Held, 0},
		{"an instant within another's trust is no overlap", func(s *story) {
			s.trust("a", 1, 100, 300)
			s.trust("b", 2, 200, 200)
		}, Held, 0},
		{"nobody", func(*story) {}, Undecided, 0},
		{"an instant of trust is none", func(s *story) { s.trust("a", 1, 100, 100) }, Undecided, 0},

		{"an overlap all through the loss", func(s *story) { loss(s); s.trust("a", 1, 100, 4000); s.trust("b", 1, 2000, 5000) }, Expected, 1},
		{"one that began before", func(s *story) { loss(s); s.trust("a", 1, 100, 4000); s.trust("b", 1, 1999, 5000) }, Violated, 1},
		{"one that outlasts the lease", func(s *story) { loss(s); s.trust("a", 1, 100, 4001); s.trust("b", 1, 2000, 5000) }, Violated, 1},
		{"one elsewhere", func(s *story) { loss(s); s.trust("a", 1, 5000, 6000); s.trust("b", 2, 5500, 7000) }, Violated, 1},
		{"one expected, one not", func(s *story) {
			loss(s)
			s.trust("a", 1, 100, 3000)
			s.trust("b", 1, 2500, 6000)
			s.trust("c", 2, 5500, 7000)
		}, Violated, 2},
		{"best effort too", func(s *story) {
			loss(s)
			s.run().Grade = "best effort"
			s.trust("a", 1, 100, 3000)
			s.trust("b", 1, 2500, 6000)
		}, Expected, 1},
		{"an exclusive store loses nothing", func(s *story) {
			loss(s)
			s.run().Grade = "exclusive"
			s.trust("a", 1, 100, 3000)
			s.trust("b", 1, 2500, 6000)
		}, Violated, 1},
		{"an unknown grade excuses nothing", func(s *story) {
			loss(s)
			s.run().Grade = "unknown"
			s.trust("a", 1, 100, 3000)
			s.trust("b", 1, 2500, 6000)
		}, Violated, 1},
		{"a fault that loses nothing excuses nothing", func(s *story) {
			loss(s)
			s.find(func(e history.Event) bool { return e.Fault != nil }).Fault.Loses = false
			s.trust("a", 1, 100, 3000)
			s.trust("b", 1, 2500, 6000)
		}, Violated, 1},
	})
}

func TestRisingTokens(t *testing.T) {
	elected := func(s *story, ms int, process string, token uint64) {
		s.say(ms, process, history.Event{Elected: &history.Elected{Token: token, Session: process + "-session"}})
	}
	tellings(t, "rising-tokens", []telling{
		{"rising", func(s *story) { s.trust("a", 1, 100, 200); s.trust("b", 2, 300, 400); s.trust("a", 9, 500, 600) }, Held, 0},
		{"falling", func(s *story) { s.trust("a", 2, 100, 200); s.trust("b", 1, 300, 400) }, Violated, 1},
		{"falling in one session", func(s *story) { s.trust("a", 2, 100, 200); s.trust("a", 1, 300, 400) }, Violated, 1},
		{"standing still", func(s *story) { s.trust("a", 2, 100, 200); s.trust("b", 2, 300, 400) }, Violated, 1},
		{"in the order of trust, not of writing", func(s *story) {
			s.trust("b", 2, 300, 400)
			s.trust("a", 1, 100, 500)
		}, Held, 0},
		{"falling once counts once", func(s *story) {
			s.trust("a", 9, 100, 200)
			s.trust("b", 5, 300, 400)
			s.trust("a", 6, 500, 600)
		}, Violated, 1},
		{"a token that comes again", func(s *story) {
			s.trust("a", 5, 100, 200)
			s.trust("b", 4, 300, 400)
			s.trust("c", 5, 500, 600)
		}, Violated, 2},
		{"a token of two that were too short to be trusted", func(s *story) {
			elected(s, 100, "a", 1)
			elected(s, 200, "b", 1)
			s.trust("c", 2, 300, 400)
		}, Violated, 1},
		{"told late of a lower one", func(s *story) {
			s.trust("a", 2, 100, 200)
			elected(s, 210, "b", 1)
		}, Held, 0},
		{"told twice of one", func(s *story) {
			elected(s, 99, "a", 1)
			s.trust("a", 1, 100, 200)
			s.say(201, "a", history.Event{Ended: &history.Ended{Token: 1, Session: "a-session"}})
		}, Held, 0},
		{"a command that is started again and again", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.command(2, "a", "a.1", 1, 201, 300)
			s.command(3, "a", "a.1", 1, 301, 400)
		}, Held, 0},
		{"one that is started again while it lives, and claims no more", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.stall("a", 301, 302)
			s.command(2, "a", "a.1", 1, 301, 400)
		}, Violated, 1},
		{"the third is started while the second lives", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.command(2, "a", "a.1", 1, 201, 300)
			s.command(3, "a", "a.1", 1, 300, 400)
		}, Violated, 1},
		{"one under another supervisor", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.command(2, "a", "a.2", 1, 201, 300)
		}, Violated, 1},
		{"one of another name", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.command(1, "b", "a.1", 1, 201, 300)
		}, Violated, 1},
		{"candidates are no commands", func(s *story) {
			s.start(99, "a")
			s.trustIn(1, "a", 1, 100, 200)
			s.startAs(2, 200, "a", "exclusive")
			s.trustIn(2, "a", 1, 201, 300)
		}, Violated, 1},
		{"a command after a candidate", func(s *story) {
			s.trust("a", 1, 100, 200)
			s.command(2, "a", "a-session", 1, 201, 300)
		}, Violated, 1},
		{"a candidate after a command", func(s *story) {
			s.command(1, "a", "a-session", 1, 100, 200)
			s.trustIn(2, "a", 1, 201, 300)
		}, Violated, 1},
		{"somebody else's token between", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.trust("b", 1, 201, 210)
			s.command(2, "a", "a.1", 1, 211, 300)
		}, Violated, 1},
		{"a command that is started again too late", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.trust("b", 2, 201, 300)
			s.command(2, "a", "a.1", 1, 301, 400)
		}, Violated, 1},
		{"nobody", func(*story) {}, Undecided, 0},

		{"falling by a loss", func(s *story) { loss(s); s.trust("a", 2, 100, 1500); s.trust("b", 1, 5000, 6000) }, Expected, 1},
		{"standing still by a loss", func(s *story) { loss(s); s.trust("a", 1, 100, 1500); s.trust("b", 1, 5000, 6000) }, Expected, 1},
		{"a token of two that were too short, by a loss", func(s *story) {
			loss(s)
			elected(s, 1000, "a", 1)
			elected(s, 5000, "b", 1)
			s.trust("c", 2, 6000, 6100)
		}, Expected, 1},
		{"falling before the loss", func(s *story) { loss(s); s.trust("a", 2, 100, 150); s.trust("b", 1, 1999, 6000) }, Violated, 1},
		{"falling just at the loss", func(s *story) { loss(s); s.trust("a", 2, 100, 150); s.trust("b", 1, 2000, 6000) }, Expected, 1},
		{"falling from what came after the loss", func(s *story) { loss(s); s.trust("a", 2, 4001, 4500); s.trust("b", 1, 5000, 6000) }, Violated, 1},
		{"falling from what was lost last", func(s *story) { loss(s); s.trust("a", 2, 4000, 4500); s.trust("b", 1, 5000, 6000) }, Expected, 1},
		{"standing still long after", func(s *story) { loss(s); s.trust("a", 2, 4001, 4500); s.trust("b", 2, 5000, 6000) }, Violated, 1},
	})
}

func TestLostIsLost(t *testing.T) {
	tellings(t, "lost-is-lost", []telling{
		{"pieces that touch", func(s *story) { s.trust("a", 1, 100, 200); s.trust("a", 1, 200, 300) }, Held, 0},
		{"a gap", func(s *story) { s.trust("a", 1, 100, 200); s.trust("a", 1, 201, 300) }, Violated, 1},
		{"two gaps", func(s *story) { s.trust("a", 1, 100, 200); s.trust("a", 1, 201, 300); s.trust("a", 1, 400, 500) }, Violated, 2},
		{"the next term", func(s *story) { s.trust("a", 1, 100, 200); s.trust("a", 2, 201, 300) }, Held, 0},
		{"a gap between two lives of a command", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.command(2, "a", "a.1", 1, 300, 400)
		}, Held, 0},
		{"a gap within its second life", func(s *story) {
			s.command(1, "a", "a.1", 1, 100, 200)
			s.command(2, "a", "a.1", 1, 300, 400)
			s.sayIn(2, 500, "a", history.Event{Trust: &history.Trust{From: at(401), To: at(500), Token: 1, Session: "a.1"}})
		}, Violated, 1},
		{"no grade excuses it", func(s *story) { loss(s); s.trust("a", 1, 2100, 2200); s.trust("a", 1, 2300, 2400) }, Violated, 1},
		{"nobody", func(*story) {}, Undecided, 0},
	})
}

// A leadership that several commands lived, one after the other, is one; a finding tells them apart.
func TestTermsOfACommandThatIsStartedAgain(t *testing.T) {
	s := opening(60000)
	s.say(9, "a", history.Event{Start: &history.Start{Kind: Command, Session: "a.1"}})
	s.say(10, "a", history.Event{Elected: &history.Elected{Token: 1, Session: "a.1"}}) // it ended before it was sure
	s.command(2, "a", "a.1", 1, 100, 200)
	s.command(3, "a", "a.1", 1, 201, 201)
	s.events[len(s.events)-1] = history.Event{
		At: at(202), Process: "a", Life: 3, Elected: &history.Elected{Token: 1, Session: "a.1"},
	}
	s.command(4, "a", "a.1", 1, 203, 300)
	s.trust("b", 2, 301, 400)
	s.run().Load.Change = 1
	result := s.check(t)
	if got := (window{Span: result.Run.Span, life: result.Run.Lives[0]}).allowed(result.Run); got != spare+2+1 {
		t.Errorf("%v requests are allowed, those of more or less than two changes of leader", got)
	}
	if got := result.Run.TrustedTerms(); got != 2 {
		t.Errorf("%d terms, want 2", got)
	}
	if note := result.Row("rising-tokens").Note; note != "2 terms, tokens 1 to 2, 3 commands started again within a term" {
		t.Errorf("noted %q", note)
	}
	s.command(5, "a", "a.1", 1, 299, 301)
	text := s.check(t).Row("one-leader").Findings[0].Text
	if want := "a (life 4) with token 1 and a (life 5) with token 1 were both trusted for 1ms"; !strings.Contains(text, want) {
		t.Errorf("%q does not tell %q", text, want)
	}
}
