package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/history"
)

func pageOf(t *testing.T, s *sample) string {
	t.Helper()
	var out strings.Builder
	if err := WritePage(&out, s.check(t)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "ZgotmplZ") {
		t.Error("the template refused a value")
	}
	return out.String()
}

// wants checks what a text has, and what it must not have.
func wants(t *testing.T, text string, has, hasNot []string) {
	t.Helper()
	for _, want := range has {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	for _, no := range hasNot {
		if strings.Contains(text, no) {
			t.Errorf("it has %q", no)
		}
	}
}

// small is a run of a minute in which b follows a, which is stopped, and the store fails over.
func small() *sample {
	s := newSample(1)
	s.events = s.events[:1]
	s.lives = map[string]int{}
	s.start(0, "a")
	s.start(0, "b")
	s.trust("a", 1, 6000, 12000)
	s.write(13000, "b", 2, history.OK)
	s.strike(history.Fault{Number: 1, Kind: "SIG<STOP>", Targets: []string{"a"}, Freezes: true}, 12001, 18000)
	s.write(18001, "a", 1, history.Refused)
	s.strike(history.Fault{Number: 2, Kind: "cut", Targets: []string{"a's supervisor"}}, 15000, 24000)
	s.strike(history.Fault{Number: 3, Kind: "fail-over", Targets: []string{"redis-1"}, Loses: true}, 24000, 30000)
	s.trust("b", 2, 12600, 31000)
	s.say(30001, "nemesis", history.Event{Healed: &history.Healed{Bound: 5 * time.Second}})
	s.say(59000, "a", history.Event{Exit: &history.Exit{}})
	s.say(59000, "b", history.Event{Exit: &history.Exit{}})
	s.say(60000, "nemesis", history.Event{Finish: &history.Finish{}})
	return s
}

func TestThePageShowsTermsAndFaults(t *testing.T) {
	wants(t, pageOf(t, small()), []string{
		"<h1 class=\"good\">redis with a replica: every rule held that could be judged</h1>",
		`class="trust" style="left:10.0000%;width:10.0000%;--hue:138"`, // token 1, in the lane of all and in a's
		`class="trust" style="left:21.0000%;width:30.6667%;--hue:275"`,
		`class="fault freeze" style="left:20.0017%;width:9.9983%;--row:0"`,
		`class="fault other" style="left:25.0000%;width:15.0000%;--row:1"`, // at the same time, in the row below
		`class="fault loses" style="left:40.0000%;width:10.0000%;--row:0"`,
		`<div class="name">store</div>` + "\n" + `<div class="row" style="--faults:1;--trust:0">`,
		`<div class="row" style="--faults:2">`,
		`class="refused" style="left:30.0017%"`,
		`class="heal good"`, "all healed, led again at once",
		"SIG&lt;STOP&gt;", "&lt;abc&gt;", "-seed 42 -for 10m",
	}, []string{`class="overlap`, "SIG<STOP>"})
}

func TestThePageShowsTwoLeaders(t *testing.T) {
	s := small()
	s.trust("a", 1, 25000, 29999) // within what the grade says
	page := pageOf(t, s)
	wants(t, page, []string{
		`class="overlap hit excused" style="left:41.6667%;width:8.3317%"`, "— within what the grade says",
	}, []string{`class="overlap hit" style`})
	s.trust("a", 1, 30500, 40000)
	s.events[0].Run.Grade = "exclusive"
	page = pageOf(t, s)
	wants(t, page, []string{`<h1 class="bad">`, `class="overlap hit" style="left:50.8333%;width:0.8333%"`},
		[]string{`hit excused"`})
	if n := strings.Count(page, `class="overlap hit" style="left:50.8333%`); n != 3 {
		t.Errorf("the overlap is shown %d times, want once for each process and once for all", n)
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page := pageOf(t, newSample(10))
	if found := regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|<script`).FindString(page); found != "" {
		t.Errorf("the page refers to something else: %q", found)
	}
	wants(t, page, []string{"redis with a replica: every rule held that could be judged", `id="zoom-minute"`, `id="zoom-ten"`}, nil)
	if len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

func TestLabelsOfTheAxisAreReadable(t *testing.T) {
	for _, lasted := range []time.Duration{
		300 * time.Millisecond, 3 * time.Second, 30 * time.Second, 10 * time.Minute, 3 * time.Hour,
	} {
		d := drawing{plot: plot{check.Span{From: at(0), To: at(0).Add(lasted)}}}
		for _, z := range d.zooms() {
			if n := float64(len(z.Ticks)) / z.Times; n < 2 || n > 13 {
				t.Errorf("%.1f labels on a screen of %s in a run of %v", n, z.Name, lasted)
			}
		}
	}
}

func TestTheSummaryCounts(t *testing.T) {
	s := small()
	s.trust("a", 1, 25000, 29999)
	sum := Summarize(s.check(t))
	if sum.Terms != 2 || sum.Writes != 1 || sum.Refused != 1 || sum.Faults != 3 || sum.FaultKinds["cut"] != 1 ||
		sum.Recoveries != 1 || sum.SlowestRecovery != 0 || int(sum.LedPercent) != 40 || sum.Seconds != 60 {
		t.Errorf("%+v", sum)
	}
	if r := sum.rule("one-leader"); r.Findings != 1 || r.Excused != 1 || r.Verdict != check.Expected {
		t.Errorf("%+v", r)
	}
	dir := t.TempDir()
	if err := sum.Save(dir); err != nil {
		t.Fatal(err)
	}
	all, err := Load(dir)
	if err != nil || len(all) != 1 || sum.FileName() != "redis-with-a-replica.json" {
		t.Fatalf("loaded %v, %v", all, err)
	}
	var before, after strings.Builder
	if err := sum.WriteMarkdown(&before); err != nil {
		t.Fatal(err)
	}
	if err := all[0].WriteMarkdown(&after); err != nil || before.String() != after.String() {
		t.Errorf("kept as %s, was %s", after.String(), before.String())
	}
	wants(t, after.String(), []string{
		"| No two processes are trusted with the lead at the same instant | broke as the grade says | 1 overlap",
		"- b with token 2 and a with token 1 were both trusted for 4.999s, from 25.000 s to 29.999 s", "Faults: SIG<STOP> 1, cut 1",
	}, nil)
	if err := os.Rename(filepath.Join(dir, sum.FileName()), filepath.Join(dir, "other.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil {
		t.Error("a summary under another's name was loaded")
	}
}

// The lanes of requests have one scale, by the root.
func TestTheChartsShareAScale(t *testing.T) {
	s := small()
	for name, each := range map[string]uint64{"a": 100, "b": 25} {
		for i := range uint64(3) {
			s.say(1000+1000*int(i), name, history.Event{Requests: &history.Requests{Loads: i / 2 * each}})
		}
	}
	page := pageOf(t, s)
	wants(t, page, []string{
		"a, at most 100.0 requests a second", "M33.33 100V0.0H50.00V100z",
		"b, at most 25.0 requests a second", "M33.33 100V50.0H50.00V100z", "M16.67 100V100.0H33.33V100z",
	}, nil)
}

func TestTitles(t *testing.T) {
	rules := func(verdicts ...check.Verdict) (out []Rule) {
		for _, v := range verdicts {
			out = append(out, Rule{Verdict: v})
		}
		return out
	}
	for _, c := range []struct {
		rules  []Rule
		passed bool
		want   string
	}{
		{rules(check.Held, check.Held), true, "s: every rule held"},
		{rules(check.Held, check.Undecided), true, "s: every rule held that could be judged"},
		{rules(check.Held, check.Undecided), false, "s: undecided"},
		{rules(check.Held, check.Expected), true, "s: broke as its grade says, and no further"},
		{rules(check.Expected, check.Violated), false, "s: 1 rule violated"},
		{rules(check.Violated, check.Violated), false, "s: 2 rules violated"},
	} {
		if got := (&Summary{Store: "s", Rules: c.rules, Passed: c.passed}).title(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTheTableOfGrades(t *testing.T) {
	broke := func(id string, findings, excused int) Rule { return Rule{ID: id, Findings: findings, Excused: excused} }
	got := Grades([]*Summary{
		{Store: "weak", Grade: "best effort", Seconds: 90, Faults: 3, Terms: 4, LedPercent: 49.6, Passed: true, Rules: []Rule{
			broke("one-leader", 2, 2), broke("rising-tokens", 0, 0), {Verdict: check.Expected},
		}},
		{Store: "sabotaged", Grade: "exclusive", Unprotected: []string{"fencing"}},
		{Store: "str|ong", Grade: "exclusive", Seconds: 600, Passed: true},
		{Store: "mid: dle", Grade: "exclusive until fail-over", Seconds: 600, Rules: []Rule{
			broke("one-leader", 2, 1), {Verdict: check.Violated},
		}},
	})
	want := `| str\|ong | exclusive | 10 minutes | 0 | 0 | 0 % | never | never | every rule held |
| mid: dle | exclusive until fail-over | 10 minutes | 0 | 0 | 0 % | 2, **1 of them against the grade** | never | **1 rule violated** |
| weak | best effort | 90 s | 3 | 4 | 50 % | 2, as the grade says | never | broke as its grade says, and no further |
`
	if _, rows, _ := strings.Cut(got, "|---|---|---|---|---|---|---|---|---|\n"); rows != want {
		t.Errorf("got\n%s\nwant\n%s", rows, want)
	}
}

func TestDocumentsAreCheckedAgainstTheResults(t *testing.T) {
	dir := t.TempDir()
	name, results := filepath.Join(dir, "README.md"), filepath.Join(dir, "results")
	if err := os.Mkdir(results, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + begin + end + "after\n")
	if WriteDocument(name, results) == nil || CheckDocument(name, results) == nil {
		t.Error("a table was made of nothing")
	}
	if err := (&Summary{Store: "s", Grade: "exclusive", Passed: true}).Save(results); err != nil {
		t.Fatal(err)
	}
	if CheckDocument(name, results) == nil {
		t.Error("a document without its table passed")
	}
	for range 2 {
		if err := WriteDocument(name, results); err != nil {
			t.Fatal(err)
		}
		if err := CheckDocument(name, results); err != nil {
			t.Error(err)
		}
	}
	text, _ := os.ReadFile(name)
	wants(t, string(text), []string{"before\n" + begin + "\n| Store", "every rule held |\n\n" + end + "after\n"}, nil)
	write(strings.Replace(string(text), "every rule", "any rule", 1))
	if CheckDocument(name, results) == nil {
		t.Error("a document that was edited passed")
	}
	write("before\nafter\n")
	if WriteDocument(name, results) == nil {
		t.Error("a document without the lines was written to")
	}
}

func TestARunLeavesItsReports(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, small().check(t)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{PageName: "</html>", MarkdownName: "# redis with a replica"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
}
