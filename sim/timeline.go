package sim

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

//go:embed timeline.css
var timelineStyle string

// The geometry of a timeline, in pixels.
const (
	timelineWidth = 1600
	labelWidth    = 130
	laneHeight    = 16
	nodeGap       = 22
	axisHeight    = 40
)

// lanes are the rows of a node, from the top.
var lanes = []struct {
	lane  lane
	label string
}{{laneTrust, "trusted"}, {laneWork, "work"}, {laneCall, "calls"}}

// Timeline draws a recorded history as one HTML page that needs nothing else: a lane for each process with the terms in
// which it was trusted, its work and its calls, what struck it, and what the store held; time is true time.
func (w *World) Timeline(log *Log) []byte {
	log.closeAll(w.now)
	p := page{w: w, log: log, end: max(w.now, 1)}
	title := fmt.Sprintf("History %d (%v)", w.Seed, w.plan.Kind)
	p.printf("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n", title)
	p.printf("<meta name=\"viewport\" content=\"width=device-width\"><style>\n%s</style></head><body>\n", timelineStyle)
	p.printf("<h1>%s</h1>\n<p>%s</p>\n", title, html.EscapeString(w.summary()))
	p.violations()
	p.legend()
	p.chart()
	p.lines()
	p.printf("</body></html>\n")
	return p.out.Bytes()
}

// summary tells what the history is made of.
func (w *World) summary() string {
	var parts []string
	for _, f := range w.plan.Faults {
		parts = append(parts, f.String())
	}
	for f, p := range w.plan.Message {
		if p > 0 {
			parts = append(parts, fmt.Sprintf("%v (%g %%)", MessageFault(f), 100*p))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "none")
	}
	return fmt.Sprintf("%d processes, %d terms, %v. Faults: %s.", len(w.nodes), len(w.terms),
		w.now.Round(time.Millisecond), strings.Join(parts, ", "))
}

// page is a timeline while it is drawn.
type page struct {
	w   *World
	log *Log
	end time.Duration
	out bytes.Buffer
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

func (p *page) violations() {
	if len(p.w.Violations) == 0 {
		p.printf("<p class=\"good\">No rule was broken.</p>\n")
		return
	}
	p.printf("<ul class=\"bad\">\n")
	for _, v := range p.w.Violations {
		p.printf("<li>%s</li>\n", html.EscapeString(v.String()))
	}
	p.printf("</ul>\n")
}

func (p *page) legend() {
	p.printf("<p class=\"legend\"><span class=\"trust\"></span> trusted, a colour for each term " +
		"<span class=\"work\"></span> leader work until it returned <span class=\"call\"></span> call to the store " +
		"<span class=\"pause\"></span> does not run <span class=\"link\"></span> cut off " +
		"<span class=\"down\"></span> no process</p>\n")
}

// x is where an instant is drawn.
func (p *page) x(at time.Duration) float64 {
	return labelWidth + float64(at)/float64(p.end)*(timelineWidth-labelWidth-10)
}

// top is where the lanes of a node begin.
func (p *page) top(node int) int { return axisHeight + node*(len(lanes)*laneHeight+nodeGap) }

func (p *page) chart() {
	n := len(p.w.nodes)
	height := p.top(n) + 2*laneHeight + nodeGap + 10
	p.printf("<div class=\"chart\"><svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n",
		timelineWidth, height, timelineWidth, height)
	p.axis(height)
	for i := range n {
		p.node(i)
	}
	p.store(n)
	for _, v := range p.w.Violations {
		p.printf("<g class=\"violation\"><title>%s</title><line x1=\"%.1f\" x2=\"%.1f\" y1=\"20\" y2=\"%d\"/>"+
			"<text x=\"%.1f\" y=\"16\">%v</text></g>\n", html.EscapeString(v.String()), p.x(v.At), p.x(v.At), height,
			p.x(v.At), v.Rule)
	}
	p.printf("</svg></div>\n")
}

// axis draws the seconds, and the phases of the history.
func (p *page) axis(height int) {
	step := time.Second
	for _, s := range []time.Duration{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000} {
		if p.end/step > 24 {
			step = s * time.Second
		}
	}
	for t := time.Duration(0); t <= p.end; t += step {
		p.printf("<g class=\"tick\"><line x1=\"%.1f\" x2=\"%.1f\" y1=\"30\" y2=\"%d\"/>"+
			"<text x=\"%.1f\" y=\"28\">%v</text></g>\n", p.x(t), p.x(t), height, p.x(t), t)
	}
	for _, i := range p.log.intervals {
		if i.lane == lanePhase {
			p.printf("<text class=\"phase\" x=\"%.1f\" y=\"12\">%s</text><line class=\"phase\" x1=\"%.1f\" x2=\"%.1f\" "+
				"y1=\"2\" y2=\"%d\"/>\n", p.x(i.from)+3, html.EscapeString(i.text), p.x(i.from), p.x(i.from), height)
		}
	}
}

// node draws the lanes of one process.
func (p *page) node(index int) {
	top := p.top(index)
	p.printf("<text class=\"node\" x=\"4\" y=\"%d\">%s (node %d)</text>\n", top+10,
		html.EscapeString(p.w.nodes[index].cfg.ID), index)
	for i, l := range lanes {
		p.printf("<text class=\"lane\" x=\"%d\" y=\"%d\">%s</text>\n", labelWidth-6, top+i*laneHeight+laneHeight-4, l.label)
	}
	for _, i := range p.log.intervals {
		if i.node != index {
			continue
		}
		switch i.lane {
		case lanePause, laneLink, laneDown:
			p.bar(i, top-4, len(lanes)*laneHeight+6, "")
		case laneTrust, laneWork:
			p.bar(i, top+int(i.lane)*laneHeight+2, laneHeight-4, color(i.value))
		case laneCall:
			p.bar(i, top+int(i.lane)*laneHeight+4, laneHeight-8, "")
		}
	}
}

// store draws what the store held, and what befell it.
func (p *page) store(n int) {
	top := p.top(n)
	p.printf("<text class=\"node\" x=\"4\" y=\"%d\">store</text>\n", top+10)
	points := p.w.store.timeline
	for k, at := range points {
		to := p.end
		if k+1 < len(points) {
			to = points[k+1].at
		}
		i := interval{lane: laneRecord, value: at.state.record.Token, from: at.at, to: to, text: describe(at.state)}
		fill := color(i.value)
		if at.state.vacant() {
			fill = ""
		}
		p.bar(i, top+2, laneHeight-4, fill)
	}
	for _, i := range p.log.intervals {
		if i.lane == laneStore {
			p.bar(i, top+laneHeight+2, laneHeight-4, "")
		}
	}
}

// bar draws an interval.
func (p *page) bar(i interval, y, height int, fill string) {
	style := ""
	if fill != "" {
		style = " style=\"fill:" + fill + "\""
	}
	from, to := p.x(i.from), p.x(min(i.to, p.end))
	p.printf("<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"%s><title>%s, %v to %v</title></rect>\n",
		laneClasses[i.lane], from, y, max(to-from, 0.6), height, style, html.EscapeString(i.title()), i.from, i.to)
}

// color is that of a term.
func color(token uint64) string { return fmt.Sprintf("hsl(%d 65%% 52%%)", token*137%360) }

// lines lists everything that happened, steps that only let time pass left out.
func (p *page) lines() {
	p.printf("<details><summary>Everything that happened</summary><table>\n")
	tick := protocol.Tick.String()
	for k, l := range p.log.Lines {
		if l.What == tick && (k+1 == len(p.log.Lines) || !strings.HasPrefix(p.log.Lines[k+1].What, " ")) {
			continue
		}
		who := ""
		if l.Node >= 0 {
			who = fmt.Sprint(l.Node)
		}
		p.printf("<tr><td>%v</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", l.At, who, html.EscapeString(l.What),
			html.EscapeString(l.Text))
	}
	p.printf("</table></details>\n")
}
