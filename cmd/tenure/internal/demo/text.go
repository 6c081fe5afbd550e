package demo

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// style is an SGR parameter of ECMA-48, empty for plain text.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
	alarm  style = "1;41;97"
)

// piece is text in one style, and line is one line of such.
type piece struct {
	text string
	style
}

type line []piece

// plain returns the line without styles.
func (l line) plain() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// render returns the line, at most width characters of it, with its styles if color is set.
func (l line) render(width int, color bool) string {
	var b strings.Builder
	for _, p := range l {
		text := cut(p.text, width)
		width -= utf8.RuneCountInString(text)
		if color && p.style != plain && text != "" {
			fmt.Fprintf(&b, "\x1b[%sm%s\x1b[0m", p.style, text)
		} else {
			b.WriteString(text)
		}
	}
	return b.String()
}

func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)[:max(width, 0)]
	if len(runes) > 0 {
		runes[len(runes)-1] = '…'
	}
	return string(runes)
}

// oneLine makes one line of text that others wrote.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func writePlain(out io.Writer, lines []line) {
	for _, l := range lines {
		fmt.Fprintln(out, l.plain())
	}
}

func headline(o Options) string {
	where := o.Store
	if o.Remove != "" {
		where = "a file store in " + o.Remove
	}
	text := fmt.Sprintf("%s, TTL %v, seed %d, %s", plural(o.Nodes, "node"), o.TTL, o.Seed, where)
	if !canFreeze {
		text += "\nProcesses cannot be frozen on this system, so none is."
	}
	if o.Unsafe {
		text += "\nThe protection is taken out: nodes remember that they lead instead of asking.\nThis must go wrong."
	}
	return text + "\n"
}

// verbs are the colors of what is done to nodes.
var verbs = map[string]style{
	"kill -9": red, "freeze": cyan, "thaw": cyan, "resign": yellow, "transfer": yellow, "stop": yellow,
	"pause": yellow, "resume": yellow, "start": green, "elected": green,
}

func eventLine(e Event) line {
	return line{
		{fmt.Sprintf("%7s  ", seconds(e.At)), dim},
		{fmt.Sprintf("%-8s ", e.What), verbs[e.What]},
		{e.subject(), plain},
		{e.Outcome, plain},
	}
}

// summaryLines is the summary for people.
func summaryLines(s Summary) []line {
	lines := []line{
		nil,
		{{fmt.Sprintf("%s, %s, somebody led %.0f %% of the time",
			seconds(s.Lasted), plural(s.Faults, "fault"), 100*s.Led), bold}},
		{{fmt.Sprintf("  %-44s %3d   tokens %d to %d", "terms", s.Terms, s.FirstToken, s.LastToken), plain}},
	}
	for _, t := range []struct {
		what string
		Times
	}{
		{"hand-overs (resign, transfer, stop)", s.HandOver},
		{"fail-overs after kill -9", s.AfterKill},
		{fmt.Sprintf("fail-overs after a freeze (TTL %v)", s.TTL), s.AfterFreeze},
	} {
		lines = append(lines, line{{fmt.Sprintf("  %-44s %3d%s", t.what, t.Count, t.Times), plain}})
	}
	if s.Failures > 0 {
		lines = append(lines, line{{fmt.Sprintf("  %-44s %3d   the last:", "failed calls to the store", s.Failures), plain}},
			line{{"    " + s.LastFailure, dim}})
	}
	return append(lines, verdict(s.Findings)...)
}

// String formats the times behind their number.
func (t Times) String() string {
	if t.Count == 0 {
		return ""
	}
	return fmt.Sprintf("   p50 %-7s  max %s", span(t.P50), span(t.Max))
}

// verdict is what the check found, for people.
func verdict(f Findings) []line {
	lines := []line{{{fmt.Sprintf("  %-44s %3d", "overlaps found", len(f.Overlaps)), verdictStyle(f)}}}
	for _, text := range f.lines() {
		lines = append(lines, line{{"    " + text, red}})
	}
	return lines
}

// lines describes each finding.
func (f Findings) lines() []string {
	lines := []string{}
	for _, o := range f.Overlaps {
		lines = append(lines, fmt.Sprintf("%s (token %d) and %s (token %d) both led for %s",
			o.A.Node, o.A.Token, o.B.Node, o.B.Token, span(o.To.Sub(o.From))))
	}
	for _, p := range f.Fallen {
		lines = append(lines, fmt.Sprintf("the token fell: %s led with %d after %s with %d",
			p.Later.Node, p.Later.Token, p.Earlier.Node, p.Earlier.Token))
	}
	for _, p := range f.Revived {
		lines = append(lines, fmt.Sprintf("trust came back: %s was refused its term %d, and trusted again",
			p.Later.Node, p.Later.Token))
	}
	for _, p := range f.Hasty {
		lines = append(lines, fmt.Sprintf("a hasty hand-over: %s (token %d) led while %s still worked",
			p.Later.Node, p.Later.Token, p.Earlier.Node))
	}
	return lines
}

func verdictStyle(f Findings) style {
	if f.Clean() {
		return green
	}
	return alarm
}
