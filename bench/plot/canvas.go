package plot

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// Sizes are in pixels of a drawing that is as wide as this. A narrower screen shrinks it, so that it must not be much
// wider than 360.
const (
	width  float64 = 420
	margin float64 = 10
	line   float64 = 15 // the height of a line of text
	glyph  float64 = 6  // about the width of a character, to break lines by
)

// strokes tell lines apart without colour: the first is drawn through.
var strokes = []string{"", "7 3", "2 3", "10 3 2 3", "4 4", "1 4", "12 4", "6 2 2 2"}

// Both schemes have colours that can be told apart, and read, on their grounds.
const style = `
:root{--text:#1f2328;--faint:#59636e;--grid:#d8dee4;
--c0:#0550ae;--c1:#bc4c00;--c2:#1a7f37;--c3:#8250df;--c4:#bf3989;--c5:#7d4e00;--c6:#57606a;--c7:#116329}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--faint:#9198a1;--grid:#3d444d;
--c0:#58a6ff;--c1:#f0883e;--c2:#56d364;--c3:#d2a8ff;--c4:#ff9bce;--c5:#e3b341;--c6:#b1bac4;--c7:#7ee787}}
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--text)}
.title{font-size:14px;font-weight:600}.ours{font-weight:600}
.faint{fill:var(--faint);font-size:11px}.head{fill:var(--faint);font-size:10px}
.end{text-anchor:end}.mid{text-anchor:middle}
.grid{stroke:var(--grid);fill:none}.track{fill:var(--grid);opacity:.5}
.line{fill:none;stroke-width:1.6}.bold{stroke-width:3}
`

// canvas is a drawing that grows downwards.
type canvas struct {
	body  bytes.Buffer
	title string
	note  string
	y     float64 // where the next thing begins
}

func newCanvas(title, note string) *canvas {
	c := &canvas{title: title, note: note, y: margin + line - 2}
	c.text(margin, c.y, "title", title)
	c.y += line
	for _, s := range wrap(note, columns(width-2*margin)) {
		c.text(margin, c.y, "faint", s)
		c.y += line - 1
	}
	return c
}

func (c *canvas) add(format string, args ...any) {
	fmt.Fprintf(&c.body, format, args...)
	c.body.WriteByte('\n')
}

func (c *canvas) text(x, y float64, class, text string) {
	c.add(`<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, html.EscapeString(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64) {
	c.add(`<path class="grid" d="M%.1f %.1fL%.1f %.1f"/>`, x1, y1, x2, y2)
}

func (c *canvas) box(x, y, w, h float64, colour int) {
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1.5" style="fill:var(--c%d)"/>`, x, y, w, h, colour)
}

func (c *canvas) track(x, y, w, h float64) {
	c.add(`<rect class="track" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1.5"/>`, x, y, w, h)
}

// legend names the series under the drawing, as many in a line as there is room for.
func (c *canvas) legend(series []Series, key func(x, y float64, i int)) {
	const swatch = 26
	x := margin
	for i, s := range series {
		w := swatch + glyph*1.25*float64(len(s.Name)) + 12
		if x > margin && x+w > width-margin {
			x, c.y = margin, c.y+line+2
		}
		key(x, c.y-4, i)
		c.text(x+swatch, c.y, class(s, ""), s.Name)
		x += w
	}
	c.y += line
}

// class is that of the text of a series.
func class(s Series, others string) string {
	if s.Ours {
		return strings.TrimSpace(others + " ours")
	}
	return others
}

func (c *canvas) bytes() []byte {
	height := c.y + margin - line/2
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" `+
		`viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">`+
		"\n<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n",
		width, height, width, height, html.EscapeString(c.title), html.EscapeString(c.note), style)
	out.Write(c.body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// columns is how many characters have room.
func columns(w float64) int { return int(w / glyph) }

// wrap breaks text into lines of at most n characters.
func wrap(text string, n int) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(text) {
		if current != "" && len(current)+1+len(word) > n {
			lines, current = append(lines, current), ""
		}
		current = strings.TrimSpace(current + " " + word)
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}
