package demo

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

//go:embed timeline.html
var timelineText string

var timelineTemplate = template.Must(template.New("timeline").Parse(timelineText))

// page is the timeline as the template sees it.
type page struct {
	Result
	Title    string
	Facts    []string
	Figures  []figure
	Findings []string
	MinWidth int // of the plot, in pixels
	Ticks    []tick
	Led      []bar
	Lanes    []pageLane
	Overlaps []bar
	Legend   []mark
	Events   []pageEvent
}

type figure struct{ Value, Name string }

type tick struct {
	Style template.CSS
	Text  string
}

// bar is a rectangle in a lane.
type bar struct {
	Style       template.CSS
	Class, Text string
	Title       string
}

type pageLane struct {
	Name  string
	Bars  []bar
	Marks []mark
}

// mark is a symbol for what was done to a node.
type mark struct {
	Style               template.CSS
	Class, Symbol, Name string
}

type pageEvent struct {
	Time, What, Node, Token, Outcome string
	Class                            string
}

// symbols are what marks look like. The variation selector keeps browsers from making pictures of them.
var symbols = []mark{
	{Name: "kill -9", Symbol: "✕", Class: "kill"},
	{Name: "freeze", Symbol: "❄\uFE0E", Class: "freeze"},
	{Name: "thaw", Symbol: "☼", Class: "freeze"},
	{Name: "resign", Symbol: "↓", Class: "ask"},
	{Name: "transfer", Symbol: "⇄", Class: "ask"},
	{Name: "stop", Symbol: "■", Class: "ask"},
	{Name: "pause", Symbol: "‖", Class: "ask"},
	{Name: "resume", Symbol: "▸", Class: "ask"},
}

func symbolOf(what string) mark {
	for _, m := range symbols {
		if m.Name == what {
			return m
		}
	}
	return mark{}
}

// WriteTimeline writes an HTML page that shows who was trusted when, and what was done. It needs nothing but itself.
func (r *Result) WriteTimeline(w io.Writer) error {
	if err := timelineTemplate.Execute(w, r.page()); err != nil {
		return fmt.Errorf("demo: writing the timeline: %w", err)
	}
	return nil
}

func (r *Result) page() page {
	p := page{
		Result: *r, Title: "No two leaders at once", Facts: r.facts(), Figures: r.figures(), MinWidth: r.width(),
		Ticks: r.ticks(), Legend: r.legend(),
	}
	for _, o := range r.Summary.Findings.Overlaps {
		p.Overlaps = append(p.Overlaps, r.overlapBar("overlap", o))
		p.Led = append(p.Led, r.overlapBar("overlap hit", o))
	}
	if !r.Summary.Findings.Clean() {
		p.Title = "A rule was broken"
		if len(p.Overlaps) > 0 {
			p.Title = "Two leaders at once"
		}
		p.Findings = r.Summary.Findings.lines()
	}
	for _, t := range r.spans {
		p.Led = append(p.Led, r.trustBar(t))
	}
	for _, l := range r.lanes {
		p.Lanes = append(p.Lanes, r.pageLane(l))
	}
	for _, e := range r.events {
		p.Events = append(p.Events, e.page())
	}
	return p
}

func (r *Result) facts() []string {
	facts := []string{
		plural(r.Nodes, "node"), fmt.Sprintf("TTL %v", r.TTL), seconds(r.Lasted), plural(r.Faults, "fault"),
		fmt.Sprintf("seed %d", r.Seed),
	}
	if r.Unsafe {
		facts = append(facts, "protection taken out")
	}
	return facts
}

func (r *Result) figures() []figure {
	figures := []figure{
		{fmt.Sprint(len(r.Summary.Findings.Overlaps)), "overlaps found"},
		{fmt.Sprint(r.Terms), fmt.Sprintf("terms, tokens %d to %d", r.FirstToken, r.LastToken)},
	}
	for _, t := range []struct {
		Times
		name string
	}{
		{r.HandOver, "hand-over"}, {r.AfterKill, "fail-over after kill -9"}, {r.AfterFreeze, "fail-over after a freeze"},
	} {
		if t.Count > 0 {
			figures = append(figures, figure{
				span(t.P50), fmt.Sprintf("%s, median of %d, at most %s", t.name, t.Count, span(t.Max)),
			})
		}
	}
	return append(figures, figure{fmt.Sprintf("%.0f %%", 100*r.Summary.Led), "of the time somebody led"})
}

// width is how wide the plot is at least, in pixels: terms are a TTL or so long, and shall be wide enough for a token.
func (r *Result) width() int {
	const perTTL, narrowest, widest = 48, 600, 20000
	return min(widest, max(narrowest, int(perTTL*r.Lasted/r.TTL)))
}

// ticks are at round seconds, as many as are readable.
func (r *Result) ticks() []tick {
	const apart = 60
	most := float64(r.width()) / apart
	step := math.Pow(10, math.Floor(math.Log10(r.Lasted.Seconds()/most)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if r.Lasted.Seconds()/(step*factor) <= most {
			step *= factor
			break
		}
	}
	var ticks []tick
	for at := 0.0; at <= r.Lasted.Seconds(); at += step {
		ticks = append(ticks, tick{r.at(time.Duration(at * float64(time.Second))), fmt.Sprintf("%.4g s", at)})
	}
	return ticks
}

// at places something at a time, as a share of the plot's width.
func (r *Result) at(d time.Duration) template.CSS {
	return template.CSS(fmt.Sprintf("left:%.4f%%", r.share(d)))
}

func (r *Result) share(d time.Duration) float64 {
	return 100 * min(1, max(0, float64(d)/float64(r.Lasted)))
}

// across places something over a stretch of time.
func (r *Result) across(from, to guard.Instant) template.CSS {
	left, right := r.share(from.Sub(r.began)), r.share(to.Sub(r.began))
	return template.CSS(fmt.Sprintf("left:%.4f%%;width:%.4f%%", left, right-left))
}

func (r *Result) trustBar(t Trust) bar {
	// The golden angle keeps the colors of neighbouring tokens apart.
	hue := math.Mod(float64(t.Token)*137.508, 360)
	return bar{
		Style: r.across(t.From, t.To) + template.CSS(fmt.Sprintf(";--hue:%.0f", hue)), Class: "trust",
		Text:  fmt.Sprint(t.Token),
		Title: fmt.Sprintf("%s was trusted with token %d for %s", t.Node, t.Token, span(t.To.Sub(t.From))),
	}
}

func (r *Result) overlapBar(class string, o Overlap) bar {
	return bar{
		Style: r.across(o.From, o.To), Class: class,
		Title: fmt.Sprintf("tokens %d and %d overlapped for %s", o.A.Token, o.B.Token, span(o.To.Sub(o.From))),
	}
}

// legend explains the marks that there are.
func (r *Result) legend() []mark {
	var used []mark
	for _, m := range symbols {
		if slices.ContainsFunc(r.events, func(e Event) bool { return e.What == m.Name }) {
			used = append(used, m)
		}
	}
	return used
}

func (r *Result) pageLane(l lane) pageLane {
	out := pageLane{Name: l.id}
	for _, s := range l.times {
		to := s.to
		if to == 0 {
			to = r.began.Add(r.Lasted)
		}
		out.Bars = append(out.Bars, bar{Style: r.across(s.from, to), Class: string(s.condition), Title: string(s.condition)})
	}
	for _, t := range r.spans {
		if t.Node == l.id {
			out.Bars = append(out.Bars, r.trustBar(t))
		}
	}
	for _, o := range r.Summary.Findings.Overlaps {
		if o.A.Node == l.id || o.B.Node == l.id {
			out.Bars = append(out.Bars, r.overlapBar("overlap hit", o))
		}
	}
	for _, e := range r.events {
		if m := symbolOf(e.What); cmp.Or(e.Node, e.Leader) == l.id && m.Symbol != "" {
			m.Style, m.Name = r.at(e.At), fmt.Sprintf("%s %s %s", seconds(e.At), e.What, e.Outcome)
			out.Marks = append(out.Marks, m)
		}
	}
	return out
}

func (e Event) page() pageEvent {
	p := pageEvent{
		Time: seconds(e.At), What: e.What, Node: e.Node, Outcome: strings.TrimPrefix(e.Outcome, "→ "),
		Class: symbolOf(e.What).Class,
	}
	if e.Token != 0 {
		p.Token = fmt.Sprintf("token %d", e.Token)
	}
	return p
}
