package sim

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func corpus(t *testing.T) []Case {
	file, err := os.Open("corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases, err := ReadCorpus(file)
	if err != nil {
		t.Fatalf("corpus.txt: %v", err)
	}
	return cases
}

// What once failed keeps every rule now.
func TestCorpus(t *testing.T) {
	w := NewWorld()
	for _, c := range corpus(t) {
		if !w.Run(c.Kind, c.Seed) {
			t.Errorf("%v\n%v\nreplay: %s", c, w.Violations, Replay(c.Kind, c.Seed))
		}
	}
}

// A reader of README.md finds every seed of the corpus there, and the tests that it names.
func TestReadmeListsTheCorpus(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## The corpus\n")
	for _, c := range corpus(t) {
		if !hasRow(section, c) {
			t.Errorf("README.md has no row for %v", c)
		}
	}
	tests := protocolTests(t)
	for _, word := range strings.FieldsFunc(section, func(r rune) bool { return strings.ContainsRune(" `|,;()\n", r) }) {
		if strings.HasPrefix(word, "Test") && word != "TestCorpus" && !strings.Contains(tests, "func "+word+"(") {
			t.Errorf("README.md names %s, which is not in internal/protocol", word)
		}
	}
}

func TestCorpusIsRead(t *testing.T) {
	list, err := ReadCorpus(strings.NewReader("# a comment\n\n  mix 7  S1   two led\nbeyond 7 reserve taken by\tanybody\n"))
	want := []Case{{3, Mix, 7, S1, "two led"}, {4, BeyondE, 7, Reserve, "taken by anybody"}}
	if err != nil || len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
		t.Errorf("read %+v, %v", list, err)
	}
}

func TestBadCorpusIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"mix 7 S1":                    `line 1: "mix 7 S1" is not of the form: kind seed rule what it was`,
		"# x\nmax 7 S1 two led":       `line 2: there is no kind of histories named "max"`,
		"mix -7 S1 two led":           `line 1: "-7" is not a seed`,
		"mix 7 S99 two led":           `line 1: there is no rule "S99"`,
		"mix 7 S1 two\n\nmix 7 S2 it": "line 3: mix 7 stands in line 1 already",
		"# nothing\n":                 "there is no history in it",
	} {
		if _, err := ReadCorpus(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestFreshSeedsAreFarApart(t *testing.T) {
	seen := map[uint64]bool{}
	for range 1000 {
		seed := FreshSeed()
		if seed < givenRuns*runLength || seed+runLength > 1<<53 || seed%runLength != 0 {
			t.Fatalf("a run may not begin with %d", seed)
		}
		seen[seed] = true
	}
	if len(seen) < 990 { // of a hundred million
		t.Errorf("a thousand draws give %d runs", len(seen))
	}
}

func hasRow(table string, c Case) bool {
	return strings.Contains(table, "\n| `"+c.Kind.String()+" "+strconv.FormatUint(c.Seed, 10)+"` | "+c.Rule.String()+" | ")
}

// protocolTests is the source of the machine's tests.
func protocolTests(t *testing.T) string {
	files, err := filepath.Glob("../internal/protocol/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
