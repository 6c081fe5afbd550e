package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tiny is the setting of testdata/tiny.
func tiny(int, uint64) setting {
	return setting{
		packages: []string{"."}, survivors: "survivors.txt",
		judges: []*judge{
			{name: "tests", test: ".", of: []string{"."}, slack: time.Second},
			{name: "program", program: "program", of: []string{"."}, slack: time.Second},
		},
	}
}

// fates are what becomes of its mutants.
var fates = map[string]result{
	"tiny.go:Sum#1 negate-condition":   {Verdict: killed, Judge: "tests"},
	"tiny.go:Sum#1 swap-boundary":      {Verdict: survived},
	"tiny.go:Sum#1 drop-assignment":    {Verdict: killed, Judge: "tests"},
	"tiny.go:Sum#1 swap-sign":          {Verdict: killed, Judge: "tests"},
	"tiny.go:Sum#2 drop-assignment":    {Verdict: killed, Judge: "tests", ByTime: true},
	"tiny.go:Sum#2 swap-sign":          {Verdict: killed, Judge: "tests", ByTime: true},
	"tiny.go:Even#1 return-true":       {Verdict: survived},
	"tiny.go:Even#1 return-false":      {Verdict: killed, Judge: "tests"},
	"tiny.go:Even#1 swap-equality":     {Verdict: killed, Judge: "tests"},
	"tiny.go:Even#1 change-constant":   {Verdict: killed, Judge: "tests"},
	"tiny.go:Never#1 change-constant":  {Verdict: notCovered},
	"tiny.go:Never#1 swap-sign":        {Verdict: notCovered},
	"tiny.go:First#1 drop-if":          {Verdict: noCompile},
	"tiny.go:First#1 negate-condition": {Verdict: notCovered},
	"tiny.go:First#1 swap-boundary":    {Verdict: notCovered},
	"tiny.go:Pinned#1 drop-assignment": {Verdict: killed, Judge: "program"},
}

// call runs the program in the module of testdata/tiny at root.
func call(ctx context.Context, t *testing.T, root string, stderr *watcher, args ...string) (status int, stdout string) {
	t.Helper()
	var out bytes.Buffer
	status = run(ctx, root, tiny, args, &out, stderr)
	return status, out.String()
}

// watcher calls seen once something was written that has a text.
type watcher struct {
	bytes.Buffer
	text string
	seen func()
}

func (w *watcher) Write(p []byte) (int, error) {
	if w.seen != nil && strings.Contains(string(p), w.text) {
		w.seen()
	}
	return w.Buffer.Write(p)
}

// A run that is interrupted, and goes on from there, tells the fates apart and leaves nothing behind.
func TestFates(t *testing.T) {
	if testing.Short() {
		t.Skip("left to make test-all: it compiles a dozen mutants")
	}
	root, temp, results := module(t, "tiny"), t.TempDir(), filepath.Join(t.TempDir(), "results")
	t.Setenv("TMPDIR", temp)
	write(t, filepath.Join(root, "survivors.txt"), "")

	ctx, cancel := context.WithCancel(t.Context())
	first := watcher{text: "killed by tests", seen: cancel}
	status, out := call(ctx, t, root, &first, "-v", "-workers", "1", "-out", results)
	if status != 2 || !strings.Contains(first.String(), "interrupted") || !strings.Contains(out, "not judged") {
		t.Errorf("interrupted, it returned %d and said\n%s%s", status, first.String(), out)
	}
	mustBeEmpty(t, temp)
	known := read(t, results)
	if len(known) == 0 || len(known) == len(fates) {
		t.Errorf("%d results of the run that was interrupted", len(known))
	}

	var second watcher
	status, out = call(t.Context(), t, root, &second, "-v", "-workers", "2", "-resume", results, "-out", results)
	if status != 1 {
		t.Errorf("with survivors it returned %d\n%s", status, second.String())
	}
	mustBeEmpty(t, temp)
	for name := range known {
		if strings.Contains(second.String(), name+":") {
			t.Errorf("%s was judged again", name)
		}
	}
	compare(t, read(t, results))
	for _, text := range []string{
		"SURVIVED: tiny.go:Even#1 return-true\n", "-func Even(n int) bool { return n%2 == 0 }",
		"SURVIVED: tiny.go:Never#1 swap-sign (no judge executes it)", "score: killed / (killed + survived)",
	} {
		if !strings.Contains(out, text) {
			t.Errorf("the summary lacks %q:\n%s", text, out)
		}
	}
	explain(t, root, results)
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v was left behind, %v", left, err)
	}
}

func read(t *testing.T, file string) map[string]result {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]result{}
	for line := range strings.Lines(string(text)) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		all[r.Name] = r
	}
	return all
}

func compare(t *testing.T, got map[string]result) {
	t.Helper()
	for name, want := range fates {
		if r := got[name]; r.Verdict != want.Verdict || r.Judge != want.Judge || r.ByTime != want.ByTime {
			t.Errorf("want %s, have %+v", want, r)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s was not expected", name)
	}
}

// explain goes through what explanations do to a run whose verdicts are all known.
func explain(t *testing.T, root, results string) {
	var all strings.Builder
	for name, r := range fates {
		if r.alive() {
			all.WriteString(name + "\n  it is like this in the test\n")
		}
	}
	for name, c := range map[string]struct {
		text   string
		status int
		says   string
	}{
		"all":           {all.String(), 0, ""},
		"one is killed": {all.String() + "tiny.go:Sum#1 swap-sign\n  so it was\n", 1, "it does not survive, judge tests kills it"},
		"one is gone":   {all.String() + "tiny.go:Gone#1 swap-sign\n  so it was\n", 1, "there is no such mutant any more"},
		"one does not compile": {
			all.String() + "tiny.go:First#1 drop-if\n  so it was\n", 1, "tiny.go:First#1 drop-if: it does not compile",
		},
	} {
		write(t, filepath.Join(root, "survivors.txt"), c.text)
		var said watcher
		status, out := call(t.Context(), t, root, &said, "-resume", results)
		if status != c.status || !strings.Contains(out, c.says) || strings.Contains(said.String(), "looks at the code") {
			t.Errorf("%s: status %d\n%s%s", name, status, said.String(), out)
		}
	}
}

// Verdicts on other code are worth nothing.
func TestResultsOfOtherCodeAreLeftAside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	write(t, file, `{"name":"a","verdict":"killed","code":"old"}`+"\n"+`{"name":"b","verdict":"killed","code":"new"}`+"\n"+`{"na`)
	known, aside, err := resume(file, "new")
	if err != nil || len(known) != 1 || known["b"].Verdict != killed || aside != 1 {
		t.Errorf("%v, %d aside, %v", known, aside, err)
	}
	root := module(t, "tiny")
	code := func() string {
		sum, err := fingerprint(root, tiny(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	before := code()
	write(t, filepath.Join(root, "another_test.go"), "package tiny\n")
	if code() == before {
		t.Error("another test changes nothing")
	}
}

// Who fails anyway would kill every mutant.
func TestJudgeThatFailsAnywayIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("left to make test-all: it compiles a judge")
	}
	root := module(t, "tiny")
	write(t, filepath.Join(root, "survivors.txt"), "")
	t.Setenv("TINY_FAILS", "yes")
	var said watcher
	if status, _ := call(t.Context(), t, root, &said); status != 2 || !strings.Contains(said.String(), "as it was told to") {
		t.Errorf("status %d\n%s", status, said.String())
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	root := module(t, "tiny")
	write(t, filepath.Join(root, "survivors.txt"), "")
	for _, args := range [][]string{
		{"extra"},
		{"-match", "("},
		{"-match", "nothing of that name"},
		{"-share", "2/1"},
		{"-workers", "0"},
		{"-judges", "nobody"},
		{"-show", "nothing"},
		{"-nonsense"},
	} {
		var said watcher
		if status, _ := call(t.Context(), t, root, &said, args...); status != 2 || said.Len() == 0 {
			t.Errorf("%v: status %d, %q", args, status, said.String())
		}
	}
	var said watcher
	status, out := call(t.Context(), t, root, &said, "-list", "-match", "Even.*return")
	if want := "tiny.go:Even#1 return-true\ntiny.go:Even#1 return-false\n"; status != 0 || out != want {
		t.Errorf("status %d, %s", status, out)
	}
}
