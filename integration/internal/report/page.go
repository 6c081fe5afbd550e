package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/history"
)

//go:embed report.html
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// page is a run as the template sees it.
type page struct {
	*Summary
	Title   string
	Class   string
	Facts   []string
	Figures []figure
	Rows    []pageRow
	Zooms   []zoom
	Led     []bar
	Lanes   []lane
	Charts  []chart
	Healed  []mark
	Faults  []faultRow
	Details []detail
	// Overlaps tells that there are any.
	Overlaps bool
}

type figure struct{ Value, Name string }

// pageRow is a rule with as many findings as somebody reads.
type pageRow struct {
	check.Row
	Class, Symbol string
	More          int
}

// shown is how many findings of a rule the page shows.
const shown = 50

// zoom is a scale of the timeline.
type zoom struct {
	ID, Name string
	Checked  bool
	// Times is how many screens wide the timeline is.
	Times float64
	// Grid is how far apart the lines are, as a share of the timeline.
	Grid  template.CSS
	Ticks []mark
}

// bar is a rectangle in a lane.
type bar struct {
	Style              template.CSS
	Class, Text, Title string
}

// mark is a symbol or a text at an instant.
type mark struct {
	Style              template.CSS
	Class, Text, Title string
}

type faultRow struct {
	Time, Kind, Targets, Lasted, Effect, Led string
	Class                                    string
}

// detail is a fact for those who want to repeat the run.
type detail struct{ Name, Value string }

// plot places things on a timeline.
type plot struct{ check.Span }

// share is an instant as a percentage of the timeline.
func (p plot) share(at history.Instant) float64 {
	whole := max(time.Nanosecond, p.Length())
	return 100 * min(1, max(0, float64(at.Sub(p.From))/float64(whole)))
}

func (p plot) at(at history.Instant) template.CSS {
	return template.CSS(fmt.Sprintf("left:%.4f%%", p.share(at)))
}

func (p plot) across(s check.Span) template.CSS {
	left, right := p.share(s.From), p.share(s.To)
	return template.CSS(fmt.Sprintf("left:%.4f%%;width:%.4f%%", left, right-left))
}

// WritePage writes the page of a run. It needs nothing but itself.
func WritePage(w io.Writer, result *check.Result) error {
	if err := pageTemplate.Execute(w, newPage(result)); err != nil {
		return fmt.Errorf("report: writing the page: %w", err)
	}
	return nil
}

func newPage(result *check.Result) *page {
	s, run := Summarize(result), result.Run
	p := &page{Summary: s, Title: s.title(), Class: "good", Facts: s.facts(), Figures: s.figures(result)}
	if !s.Passed {
		p.Class = "bad"
	}
	for _, row := range result.Rows {
		p.Rows = append(p.Rows, newPageRow(row))
	}
	d := drawing{result: result, run: run, plot: plot{run.Span}}
	p.Zooms, p.Lanes, p.Led, p.Charts = d.zooms(), d.lanes(), d.led(), d.charts()
	for _, v := range run.Recoveries() {
		p.Healed = append(p.Healed, d.healed(v))
	}
	for _, f := range run.Faults {
		p.Faults = append(p.Faults, d.faultRow(f))
	}
	p.Details, p.Overlaps = s.details(), s.rule("one-leader").Findings > 0
	return p
}

var (
	symbols = map[check.Verdict]string{check.Held: "✓", check.Expected: "≈", check.Violated: "✕", check.Undecided: "?"}
	classes = map[check.Verdict]string{
		check.Held: "good", check.Expected: "warn", check.Violated: "bad", check.Undecided: "faint",
	}
)

func newPageRow(row check.Row) pageRow {
	out := pageRow{Row: row, Class: classes[row.Verdict], Symbol: symbols[row.Verdict]}
	if out.More = len(row.Findings) - shown; out.More > 0 {
		out.Findings = row.Findings[:shown]
	}
	return out
}

func (s *Summary) figures(result *check.Result) []figure {
	overlaps := s.rule("one-leader")
	figures := []figure{
		{overlaps.figure(), "times two led at once"},
		{s.rule("rising-tokens").figure(), "tokens that fell"},
		{fmt.Sprint(s.Terms), "terms"},
		{fmt.Sprint(s.Faults), plural(len(s.FaultKinds), "kind") + " of faults struck"},
		{fmt.Sprintf("%.0f %%", s.LedPercent), "of the time somebody led"},
	}
	if s.Recoveries > 0 {
		slowest := strings.TrimPrefix(soon(time.Duration(s.SlowestRecovery*float64(time.Second))), "after ")
		figures = append(figures, figure{slowest, "slowest of " + recoveries(s.Recoveries)})
	}
	if s.Writes > 0 {
		stale := fmt.Sprintf("writes accepted, %d stale ones refused", s.Refused)
		figures = append(figures, figure{fmt.Sprint(s.Writes), stale})
	}
	if stalled := total(result.Run.Stalls); stalled > 0 {
		figures = append(figures, figure{short(stalled), "in which the machine stood still"})
	}
	return figures
}

func recoveries(n int) string {
	if n == 1 {
		return "1 recovery"
	}
	return fmt.Sprintf("%d recoveries", n)
}

func total(spans []check.Span) (sum time.Duration) {
	for _, s := range spans {
		sum += s.Length()
	}
	return sum
}

// figure is how often a rule was broken.
func (r Rule) figure() string {
	if r.Findings > 0 && r.Excused == r.Findings {
		return fmt.Sprintf("%d ≈", r.Findings)
	}
	return fmt.Sprint(r.Findings)
}

// details are the facts that a repetition needs, and those of the machine.
func (s *Summary) details() (out []detail) {
	for _, reason := range s.Reasons {
		out = append(out, detail{"graded " + s.Grade + " because", reason})
	}
	for _, facts := range []map[string]string{s.Versions, s.Machine} {
		for _, name := range slices.Sorted(maps.Keys(facts)) {
			out = append(out, detail{name, facts[name]})
		}
	}
	return out
}

// short formats a duration with as many digits as it is worth.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// hue keeps the colors of neighbouring tokens apart, by the golden angle.
func hue(token uint64) float64 { return math.Mod(float64(token)*137.508, 360) }

// join names targets.
func join(names []string) string { return strings.Join(names, ", ") }
