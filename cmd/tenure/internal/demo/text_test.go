package demo

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEventLinesFitATerminal(t *testing.T) {
	after := 12300 * time.Microsecond
	for _, e := range []Event{
		{What: "kill -9", Leader: "node-1", NewToken: 131, After: after},
		{What: "transfer", Wanted: "node-3", Leader: "node-3", NewToken: 131, After: after},
		{What: "transfer", Wanted: "node-3", Leader: "node-1", NewToken: 131, After: after},
	} {
		e.At, e.Node, e.Token = 119300*time.Millisecond, "node-2", 130
		e.Outcome = e.sequel()
		if line := eventLine(e).plain(); utf8.RuneCountInString(line) >= 80 {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		420 * time.Microsecond:  "0.4 ms",
		3140 * time.Microsecond: "3.1 ms",
		42 * time.Millisecond:   "42 ms",
		999 * time.Millisecond:  "999 ms",
		2040 * time.Millisecond: "2.0 s",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestRenderCutsAndColors(t *testing.T) {
	l := line{{"12345", red}, {"6789", plain}}
	for _, test := range []struct {
		width int
		color bool
		want  string
	}{
		{9, false, "123456789"},
		{8, false, "12345678"[:5] + "67…"},
		{3, false, "12…"},
		{9, true, "\x1b[31m12345\x1b[0m6789"},
		{4, true, "\x1b[31m123…\x1b[0m"},
		{0, true, ""},
	} {
		if got := l.render(test.width, test.color); got != test.want {
			t.Errorf("%d columns, color %t: %q, want %q", test.width, test.color, got, test.want)
		}
	}
}

func TestTableDrawsOverItsLastFrame(t *testing.T) {
	var out strings.Builder
	table := &Table{Out: &out, Size: func() (int, int) { return 80, 24 }}
	view := View{TTL: time.Second, Nodes: []NodeView{
		{ID: "node-1", State: "leader", PID: 4711, Token: 7, Trust: time.Second / 2}, {ID: "node-2", State: "candidate"},
	}}
	table.Frame(view)
	frame := strings.Count(out.String(), "\n")
	if frame != 5 || !strings.Contains(out.String(), "node-1   4711     leader          7   ██████████░░░░░░░░░░  0.5 s") {
		t.Errorf("the frame has %d lines:\n%s", frame, out.String())
	}
	out.Reset()
	table.Event(Event{What: "stop"})
	if !strings.HasPrefix(out.String(), "\x1b[5A\r\x1b[J") {
		t.Errorf("an event does not replace the frame: %q", out.String())
	}
	out.Reset()
	table.Frame(view)
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a frame after an event draws over the event: %q", out.String())
	}
	table.Size = func() (int, int) { return 80, 4 }
	out.Reset()
	table.Frame(view)
	if got := strings.Count(out.String(), "\n"); got != 3 {
		t.Errorf("%d lines on a terminal of 4 rows: what scrolls away cannot be drawn over", got)
	}
}

func TestSummaryNamesEveryFinding(t *testing.T) {
	o := Overlap{A: trusted(1, 7, 0, 9), B: trusted(2, 8, 5, 12), From: 5e6, To: 9e6}
	f := Findings{
		Overlaps: []Overlap{o}, Fallen: []Pair{{o.A, o.B}}, Revived: []Pair{{o.A, o.B}}, Hasty: []Pair{{o.A, o.B}},
	}
	var out strings.Builder
	Lines{Out: &out}.Summary(Summary{Findings: f})
	for _, want := range []string{
		"overlaps found                                 1", "b (token 7) and c (token 8) both led for 4.0 ms", "the token fell", "trust came back", "hasty",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestMeasure(t *testing.T) {
	if got := measure(nil); got != (Times{}) {
		t.Errorf("nothing measured is %+v", got)
	}
	if got := measure([]time.Duration{5, 1, 3}); got != (Times{Count: 3, P50: 3, Max: 5}) {
		t.Errorf("got %+v", got)
	}
}
