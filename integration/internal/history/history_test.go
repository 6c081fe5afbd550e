package history

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func write(t *testing.T, w *Writer, e Event) {
	t.Helper()
	if err := w.Write(e); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := t.TempDir()
	before := Now()
	a, err := Create(dir, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Create(dir, "b", 3)
	if err != nil {
		t.Fatal(err)
	}
	write(t, a, Event{Elected: &Elected{Token: 7, Session: "s"}})
	write(t, b, Event{Stall: &Stall{From: 1, To: 2}})
	write(t, a, Event{Exit: &Exit{Code: 3}})
	for _, w := range []*Writer{a, b} {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	events, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		if e.At < before || e.At > Now() {
			t.Errorf("stamped %d, not between %d and now", e.At, before)
		}
		got = append(got, fmt.Sprintf("%s%d %t %t %t", e.Process, e.Life, e.Elected != nil, e.Stall != nil, e.Exit != nil))
	}
	want := "a1 true false false|b3 false true false|a1 false false true"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("read %q, want %q", s, want)
	}
	if *events[0].Elected != (Elected{7, "s"}) {
		t.Errorf("read %+v", events[0].Elected)
	}
}

func TestALifeIsWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := Create(dir, "a", 1); err == nil {
		t.Error("a second writer began the same life")
	}
}

func TestAWriterThatFailedStaysSilent(t *testing.T) {
	w, err := Create(t.TempDir(), "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(Event{}); err == nil {
		t.Error("an event without a body was written")
	}
	if err := w.Write(Event{Exit: &Exit{}}); err == nil || w.Err() == nil {
		t.Error("the history went on after a hole")
	}
}

const (
	good  = `{"at":5,"process":"a","life":1,"exit":{"code":0}}` + "\n"
	later = `{"at":6,"process":"a","life":1,"stall":{"from":1,"to":2}}` + "\n"
)

func TestOnlyATornLastLineIsPassedOver(t *testing.T) {
	for _, c := range []struct {
		name, text string
		events     int // -1: an error
	}{
		{"nothing", "", 0},
		{"whole lines", good + later, 2},
		{"torn", good + later[:len(later)/2], 1},
		{"torn before its end", good + later[:len(later)-1], 1},
		{"torn and ended", good + later[:len(later)/2] + "\n", -1},
		{"torn in the middle", good[:20] + "\n" + later, -1},
		{"an empty line", good + "\n" + later, -1},
		{"two events in a line", good[:len(good)-1] + later, -1},
		{"rubbish after the event", good[:len(good)-1] + " x\n", -1},
		{"an unknown body", `{"at":5,"process":"a","life":1,"nap":{}}` + "\n", -1},
		{"an unknown field", `{"at":5,"process":"a","life":1,"exit":{"kode":0}}` + "\n", -1},
		{"no body", `{"at":5,"process":"a","life":1}` + "\n", -1},
		{"two bodies", `{"at":5,"process":"a","life":1,"exit":{"code":0},"stall":{"from":1,"to":2}}` + "\n", -1},
		{"no time", `{"process":"a","life":1,"exit":{"code":0}}` + "\n", -1},
		{"no process", `{"at":5,"life":1,"exit":{"code":0}}` + "\n", -1},
		{"no life", `{"at":5,"process":"a","exit":{"code":0}}` + "\n", -1},
		{"time goes back", later + good, -1},
		{"another process", good + strings.Replace(later, `"a"`, `"b"`, 1), -1},
		{"another life", good + strings.Replace(later, `"life":1`, `"life":2`, 1), -1},
	} {
		events, err := Parse([]byte(c.text))
		if c.events < 0 && err == nil {
			t.Errorf("%s: no error", c.name)
		}
		if c.events >= 0 && (err != nil || len(events) != c.events) {
			t.Errorf("%s: %d events, %v; want %d", c.name, len(events), err, c.events)
		}
	}
}

func TestADirectoryWithoutHistoryIsAnError(t *testing.T) {
	if _, err := ReadDir(t.TempDir()); err == nil {
		t.Error("no error")
	}
}

const writesForever = "TENURE_HISTORY_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writesForever); dir != "" {
		w, err := Create(dir, "a", 1)
		for i := 0; err == nil; i++ {
			err = w.Write(Event{Return: &Return{Operation: i, Outcome: OK}})
			if i == 1000 {
				fmt.Println("writing")
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestAKilledProcessLeavesAllItsLines(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), writesForever+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	if kill := cmd.Process.Kill(); err != nil || kill != nil {
		t.Fatal(err, kill)
	}
	cmd.Wait()
	events, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) <= 1000 {
		t.Errorf("%d lines are left of more than a thousand", len(events))
	}
	for i, e := range events {
		if e.Return.Operation != i {
			t.Fatalf("event %d is number %d", i, e.Return.Operation)
		}
	}
}

func TestTrustIsWrittenAsCertainSpans(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	trusted := NewTrusted(w)
	var inFirst, inLast, notAfter Instant
	ask := func(token uint64, answer bool) (at Instant) {
		t.Helper()
		got, err := trusted.Ask(token, "s", func() bool { at = Now(); time.Sleep(2 * time.Millisecond); return answer })
		if err != nil || got != answer {
			t.Fatal(got, err)
		}
		return at
	}
	inFirst = ask(1, true)
	inLast = ask(1, true)
	notAfter = Now()
	ask(1, false)
	ask(1, true) // a single yes is no span
	ask(2, true)
	ask(2, true)
	if err := trusted.Flush(); err != nil {
		t.Fatal(err)
	}
	spans := spansIn(t, dir)
	if len(spans) != 2 {
		t.Fatalf("%d spans, want 2: %+v", len(spans), spans)
	}
	first := spans[0]
	if first.Token != 1 || first.From < inFirst.Add(2*time.Millisecond) || first.To > inLast || first.To > notAfter {
		t.Errorf("the span %+v is not within the first yes, answered after %d, and the last, asked before %d",
			first, inFirst.Add(2*time.Millisecond), inLast)
	}
	if spans[1].Token != 2 || spans[1].From < spans[0].To {
		t.Errorf("the second span is %+v", spans[1])
	}
}

func TestTrustThatReturnsLeavesAGap(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	trusted := NewTrusted(w)
	for _, answer := range []bool{true, true, false, true, true} {
		trusted.Ask(1, "s", func() bool { return answer })
	}
	trusted.Flush()
	spans := spansIn(t, dir)
	if len(spans) != 2 || spans[1].From <= spans[0].To {
		t.Errorf("want two spans with a gap, got %+v", spans)
	}
}

func TestLongTrustIsWrittenInPiecesThatTouch(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	trusted := NewTrusted(w)
	for range 3 {
		// Real time has to pass: how long until a piece is written is the point.
		trusted.Ask(1, "s", func() bool { return true })
		time.Sleep(FlushEvery)
	}
	spans := spansIn(t, dir)
	if len(spans) != 2 || spans[1].From != spans[0].To || spans[0].From >= spans[0].To {
		t.Errorf("want two pieces that touch, got %+v", spans)
	}
}

func spansIn(t *testing.T, dir string) (spans []Trust) {
	t.Helper()
	events, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Trust == nil {
			t.Fatalf("not a span: %+v", e)
		}
		spans = append(spans, *e.Trust)
	}
	return spans
}

func TestWritersAreSafeForConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				w.Write(Event{Stall: &Stall{From: 1, To: 2}})
			}
		})
	}
	all.Wait()
	if events, err := ReadDir(dir); err != nil || len(events) != 1600 {
		t.Errorf("%d events, %v; want 1600", len(events), err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("files %q", names)
	}
}
