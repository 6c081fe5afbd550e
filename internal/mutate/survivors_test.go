package main

import (
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplanationsAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "survivors.txt")
	for name, c := range map[string]struct{ text, refused string }{
		"good":              {"# a comment\n\na.go:f#1 drop-if\n  because\n  of this\nb.go:g#1 drop-if\n\tso\n", ""},
		"without a reason":  {"a.go:f#1 drop-if\nb.go:g#1 drop-if\n  so\n", "a.go:f#1 drop-if has no reason"},
		"without a mutant":  {"  because\n", "a reason without a mutant"},
		"explained twice":   {"a.go:f#1 drop-if\n  so\na.go:f#1 drop-if\n  so\n", "is explained twice"},
		"nothing explained": {"", ""},
	} {
		write(t, file, c.text)
		all, err := explanations(file)
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "good" && (len(all) != 2 || all[0].reason != "because of this" || all[1].name != "b.go:g#1 drop-if") {
			t.Errorf("%+v", all)
		}
	}
	if _, err := explanations(file + ".missing"); err == nil {
		t.Error("a file that is missing is taken for an empty one")
	}
}

// What was not judged in this run, as it lies in another share, is not said to be stale.
func TestExplanationOfWhatWasNotJudgedStands(t *testing.T) {
	all := []explanation{{name: "a"}, {name: "b"}, {name: "c"}}
	problems := stale(all, []*mutant{{name: "a"}, {name: "b"}}, map[string]result{"b": {Verdict: survived}})
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "c: ") {
		t.Errorf("%q", problems)
	}
}

func TestCoverageGoesByTheInnermostBlock(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	write(t, profile, "mode: set\nm/a.go:1.10,9.2 5 1\nm/a.go:3.5,5.2 2 0\nm/a.go:7.1,7.9 1 0\nm/a.go:7.1,7.9 1 1\n")
	var c coverage
	p := &pkg{path: "m", files: []*file{{name: "a.go"}}}
	if err := c.read(profile, []*pkg{p}); err != nil {
		t.Fatal(err)
	}
	for _, c2 := range []struct {
		line, column int
		want         bool
	}{{2, 1, true}, {3, 5, false}, {4, 1, false}, {5, 9, true}, {7, 3, true}, {20, 1, true}} {
		at := token.Position{Filename: "/x/a.go", Line: c2.line, Column: c2.column}
		if got := c.executes("m", at); got != c2.want {
			t.Errorf("%d:%d is executed: %v", c2.line, c2.column, got)
		}
	}
	if err := new(coverage).read(profile, []*pkg{{path: "other"}}); err == nil {
		t.Error("a profile of another package is taken")
	}
}
