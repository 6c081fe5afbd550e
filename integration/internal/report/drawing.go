package report

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// drawing places a run on the timeline.
type drawing struct {
	plot
	result *check.Result
	run    *check.Run
}

// lane is what happened to one process, or to the servers.
type lane struct {
	Name string
	// Style says how high it is: the faults that were in force at once lie above each other.
	Style template.CSS
	Bars  []bar
	Marks []mark
}

// servers is the name of the lane of what is no candidate.
const servers = "store"

// zooms are the scales: the whole run, a minute, ten seconds to a screen.
func (d drawing) zooms() []zoom {
	seconds := d.Length().Seconds()
	out := []zoom{d.zoom("whole", "whole run", 1)}
	for _, z := range []struct {
		id, name string
		screen   float64
	}{{"minute", "a minute", 60}, {"ten", "ten seconds", 10}} {
		if seconds > 1.5*z.screen {
			out = append(out, d.zoom(z.id, z.name, seconds/z.screen))
		}
	}
	out[0].Checked = true
	return out
}

// zoom labels the axis at round times, ten or so on each screen.
func (d drawing) zoom(id, name string, times float64) zoom {
	seconds := d.Length().Seconds()
	step := seconds
	for _, s := range []float64{0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600} {
		if seconds/s <= 12*times {
			step = s
			break
		}
	}
	z := zoom{ID: id, Name: name, Times: times, Grid: template.CSS(fmt.Sprintf("%.4f%%", 100*step/max(step, seconds)))}
	for i := 0; float64(i)*step < seconds-step/2; i++ { // the last one would be cut off
		at := time.Duration(float64(i) * step * float64(time.Second))
		z.Ticks = append(z.Ticks, mark{Style: d.at(d.From.Add(at)), Text: clock(at)})
	}
	return z
}

// clock tells a time of the run.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// lanes returns that of the servers, if anything was done to them, and those of the candidates by their names.
func (d drawing) lanes() []lane {
	lives := map[string][]*check.Life{}
	for _, l := range d.run.Lives {
		if l.Start != nil || len(l.Terms) > 0 {
			lives[l.Process] = append(lives[l.Process], l)
		}
	}
	aimed := map[string][]*check.Fault{}
	for _, f := range d.run.Faults {
		at := map[string]bool{}
		for _, target := range f.Targets {
			name, _, _ := strings.Cut(target, "'s ") // as in: run-1's supervisor
			if lives[name] == nil {
				name = servers
			}
			at[name] = true
		}
		for target := range at {
			aimed[target] = append(aimed[target], f)
		}
	}
	var out []lane
	if len(aimed[servers]) > 0 {
		out = append(out, d.lane(servers, nil, aimed[servers]))
	}
	for _, name := range slices.Sorted(maps.Keys(lives)) {
		out = append(out, d.lane(name, lives[name], aimed[name]))
	}
	return out
}

func (d drawing) lane(name string, lives []*check.Life, faults []*check.Fault) lane {
	l := lane{Name: name}
	bands, rows := d.bands(faults)
	l.Style = template.CSS(fmt.Sprintf("--faults:%d", rows))
	if len(lives) == 0 {
		l.Style += ";--trust:0"
	}
	for _, life := range lives {
		l.Bars = append(l.Bars, bar{
			Style: d.across(life.Span), Class: "alive",
			Title: fmt.Sprintf("%v, from %s to %s", life, d.run.Time(life.From), d.run.Time(life.To)),
		})
		for _, t := range life.Terms {
			l.Bars = append(l.Bars, d.trust(t)...)
		}
	}
	l.Bars = append(append(l.Bars, bands...), d.overlaps(name)...)
	for _, o := range d.run.Operations {
		if o.Life.Process == name && o.Outcome == history.Refused {
			l.Marks = append(l.Marks, mark{
				Style: d.at(o.From), Class: "refused", Title: fmt.Sprintf("%s: %v", d.run.Time(o.From), o),
			})
		}
	}
	return l
}

func (d drawing) trust(t *check.Term) (out []bar) {
	for _, s := range t.Spans {
		title := fmt.Sprintf("%v, trusted for %s from %s", t, short(s.Length()), d.run.Time(s.From))
		if t.Cause != "" {
			title += "; ended: " + t.Cause
		}
		out = append(out, bar{
			Style: d.across(s) + template.CSS(fmt.Sprintf(";--hue:%.0f", hue(t.Token))), Class: "trust",
			Text: fmt.Sprint(t.Token), Title: title,
		})
	}
	return out
}

// led is the trust of all candidates in one lane, with the times at which two had it.
func (d drawing) led() (out []bar) {
	for _, t := range d.run.Terms {
		out = append(out, d.trust(t)...)
	}
	return append(out, d.overlaps("")...)
}

// overlaps are the times at which a process led besides another, or any did.
func (d drawing) overlaps(process string) (out []bar) {
	for _, f := range d.result.Row("one-leader").Findings {
		if process != "" && !slices.Contains(f.Processes, process) {
			continue
		}
		class := "overlap hit"
		if f.Excused {
			class += " excused"
		}
		out = append(out, bar{Style: d.across(f.Span), Class: class, Title: f.Text})
	}
	return out
}

// bands puts each fault into the first row in which there is room, and returns how many rows that takes.
func (d drawing) bands(faults []*check.Fault) (out []bar, rows int) {
	var ends []history.Instant
	for _, f := range faults {
		s := f.Span(d.run)
		row := slices.IndexFunc(ends, func(end history.Instant) bool { return end <= s.From })
		if row < 0 {
			row, ends = len(ends), append(ends, 0)
		}
		ends[row] = s.To
		out = append(out, bar{
			Style: d.across(s) + template.CSS(fmt.Sprintf(";--row:%d", row)), Class: "fault " + d.class(f),
			Text:  f.Kind,
			Title: fmt.Sprintf("%v, from %s to %s%s", f, d.run.Time(s.From), d.run.Time(s.To), parameters(f)),
		})
	}
	return out, len(ends)
}

func parameters(f *check.Fault) (out string) {
	for _, name := range slices.Sorted(maps.Keys(f.Parameters)) {
		out += fmt.Sprintf(", %s %s", name, f.Parameters[name])
	}
	return out
}

// class is the color of a fault.
func (d drawing) class(f *check.Fault) string {
	switch {
	case !f.Struck():
		return "void"
	case f.Loses:
		return "loses"
	case f.Kills:
		return "kill"
	case f.Freezes:
		return "freeze"
	}
	return "other"
}

func (d drawing) healed(v check.Recovery) mark {
	m := mark{Style: d.at(v.At), Class: "good", Title: fmt.Sprintf("%s: all healed", d.run.Time(v.At))}
	switch {
	case v.Led != 0:
		m.Title += fmt.Sprintf(", led again %s", soon(v.Led.Sub(v.At)))
	case v.Judged:
		m.Class = "bad"
		m.Title += ", and nobody led in time"
	default:
		m.Class = "faint"
		m.Title += ", not judged"
	}
	return m
}

func (d drawing) faultRow(f *check.Fault) faultRow {
	s := f.Span(d.run)
	row := faultRow{
		Time: fmt.Sprintf("%.1f s", s.From.Sub(d.From).Seconds()), Kind: f.Kind, Targets: join(f.Targets),
		Lasted: short(s.Length()), Class: d.class(f),
	}
	if f.Undone != nil {
		row.Effect = f.Undone.Effect
		if f.Undone.Error != "" {
			row.Effect = f.Undone.Error
		}
	}
	for _, v := range d.run.Recoveries() {
		if v.At >= s.To && v.Led != 0 && !d.struckBetween(s.To, v.At) {
			row.Led = soon(v.Led.Sub(v.At))
			break
		}
	}
	return row
}

// soon tells how long after a healing somebody was trusted.
func soon(d time.Duration) string {
	if d == 0 {
		return "at once"
	}
	return "after " + short(d)
}

// struckBetween reports whether another fault began between two instants.
func (d drawing) struckBetween(from, to history.Instant) bool {
	return slices.ContainsFunc(d.run.Faults, func(f *check.Fault) bool { return from < f.At && f.At < to })
}
