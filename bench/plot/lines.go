package plot

import (
	"fmt"
	"slices"
	"strings"
)

// lines draws one line for each series, with a mark at each value.
func (f *Figure) lines(c *canvas) {
	const height, left = 210.0, 44.0
	var xs, ys []float64
	for _, s := range f.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	x, y := newScale(f.X, xs).span(xs), newScale(f.Y, ys)
	c.text(margin, c.y+4, "faint", f.Y.Label)
	top := c.y + 16
	area := area{left, top, width - left - margin - 6, height}
	area.grid(c, x, y, xs)
	for i, s := range slices.Backward(f.Series) { // ours above the others
		area.draw(c, x, y, s, i)
	}
	c.y = top + height + 30
	c.text(left+area.w/2, c.y, "faint mid", f.X.Label)
	c.y += line + 6
	c.legend(f.Series, func(x, y float64, i int) {
		c.add(`<path class="%s" style="stroke:var(--c%d)" stroke-dasharray="%s" d="M%.1f %.1fh20"/>`,
			stroke(f.Series[i]), i, strokes[i], x, y)
	})
}

// area is where lines are drawn.
type area struct{ x, y, w, h float64 }

func (a area) grid(c *canvas, x, y scale, xs []float64) {
	for _, v := range y.ticks() {
		at := a.y + a.h*(1-y.at(v))
		c.line(a.x, at, a.x+a.w, at)
		c.text(a.x-5, at+4, "faint end", number(v))
	}
	free := 0.0 // up to where the axis is taken by text
	for _, v := range slices.Compact(slices.Sorted(slices.Values(xs))) {
		at := a.x + a.w*x.at(v)
		c.line(at, a.y+a.h, at, a.y+a.h+4)
		if room := glyph * float64(len(number(v))) / 2; at-room >= free {
			c.text(at, a.y+a.h+16, "faint mid", number(v))
			free = at + room + 4
		}
	}
}

func (a area) draw(c *canvas, x, y scale, s Series, colour int) {
	var path strings.Builder
	for i, p := range s.Points {
		px, py := a.x+a.w*x.at(p.X), a.y+a.h*(1-y.at(p.Y))
		fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], px, py)
		c.add(`<circle cx="%.1f" cy="%.1f" r="%.1f" style="fill:var(--c%d)"/>`, px, py, 2.6, colour)
	}
	c.add(`<path class="%s" style="stroke:var(--c%d)" stroke-dasharray="%s" d="%s"/>`,
		stroke(s), colour, strokes[colour], path.String())
}

func stroke(s Series) string {
	if s.Ours {
		return "line bold"
	}
	return "line"
}
