package demo

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// Table shows a demo on a terminal: events scroll by, and below them stands a table of the nodes that is drawn over and
// over. The terminal's state is never changed, so nothing needs to be restored.
type Table struct {
	Out   io.Writer
	Color bool
	// Size returns the numbers of the terminal's columns and rows.
	Size func() (columns, rows int)

	drawn int // lines of the last frame
}

// Begin implements [Display].
func (t *Table) Begin(o Options) { fmt.Fprintln(t.Out, headline(o)) }

// Event implements [Display].
func (t *Table) Event(e Event) { t.draw([]line{eventLine(e)}, nil) }

// Frame implements [Display].
func (t *Table) Frame(v View) { t.draw(nil, tableLines(v)) }

// End implements [Display].
func (t *Table) End() { t.draw(nil, nil) }

// Summary implements [Display].
func (t *Table) Summary(s Summary) { t.draw(summaryLines(s), nil) }

// draw replaces the last frame by lines that stay and a new frame, in one piece.
func (t *Table) draw(stay, frame []line) {
	var b strings.Builder
	if t.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", t.drawn)
	}
	columns, rows := t.Size()
	width := columns - 1                            // a full line would wrap on some terminals
	frame = frame[:min(len(frame), max(rows-1, 0))] // what has left the screen cannot be drawn over
	for _, l := range stay {
		b.WriteString(l.render(math.MaxInt, t.Color) + "\n") // it may wrap: nothing is drawn over it
	}
	for _, l := range frame {
		b.WriteString(l.render(width, t.Color) + "\n")
	}
	t.drawn = len(frame)
	_, _ = io.WriteString(t.Out, b.String()) // a terminal that is gone ends the demo by a signal
}

// stateStyles are the colors of states.
var stateStyles = map[string]style{"leader": green, "frozen": cyan, "dead": red, "leaving": yellow, "starting": dim}

func tableLines(v View) []line {
	lines := []line{
		{{strings.Repeat("─", 78), dim}},
		{{fmt.Sprintf("  %-8s %-8s %-10s %6s   %s", "node", "pid", "state", "token", "trust left"), bold}},
	}
	for _, n := range v.Nodes {
		lines = append(lines, nodeLine(n, v.TTL))
	}
	return append(lines, statusLine(v))
}

func nodeLine(n NodeView, ttl time.Duration) line {
	pid, token := "", ""
	if n.PID != 0 {
		pid = fmt.Sprint(n.PID)
	}
	if n.Token != 0 {
		token = fmt.Sprint(n.Token)
	}
	return append(line{
		{fmt.Sprintf("  %-8s %-8s ", n.ID, pid), plain},
		{fmt.Sprintf("%-10s ", n.State), stateStyles[n.State]},
		{fmt.Sprintf("%6s   ", token), bold},
	}, n.remark(ttl)...)
}

// remark is the last column: what is left of trust, or what a node waits for.
func (n NodeView) remark(ttl time.Duration) line {
	switch {
	case n.State == "dead" && n.Restart > 0:
		return line{{"starts again in " + seconds(n.Restart), dim}}
	case n.Trust > 0:
		return gauge(n.Trust, ttl, stateStyles[n.State])
	case n.Trust < 0 && n.State == "frozen":
		return line{{"over since " + seconds(-n.Trust), dim}}
	}
	return nil
}

func gauge(left, ttl time.Duration, s style) line {
	const width = 20
	full := min(width, max(1, int(width*left/ttl)))
	return line{
		{strings.Repeat("█", full), s},
		{strings.Repeat("░", width-full), dim},
		{"  " + seconds(left), plain},
	}
}

func statusLine(v View) line {
	l := line{{fmt.Sprintf("  %s of %s   %s   ", seconds(v.Elapsed), seconds(v.For), plural(v.Terms, "term")), dim}}
	if v.Findings > 0 {
		l = append(l, piece{plural(v.Findings, "overlap") + " ", alarm})
	} else {
		l = append(l, piece{"no overlap", green})
	}
	if v.Doing != nil {
		l = append(l, piece{fmt.Sprintf("   %s %s …", v.Doing.What, v.Doing.Node), dim})
	}
	return l
}
