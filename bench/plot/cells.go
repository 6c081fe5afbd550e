package plot

// cells draws a table: a row for each label, whose text stands above it, and a column for each series. A cell without a
// value is left empty but for a dash.
func (f *Figure) cells(c *canvas) {
	scale := newScale(f.Y, f.values())
	column := (width - 2*margin) / float64(len(f.Series))
	c.axis(f.Y)
	f.heads(c, column)
	for _, label := range f.labels() {
		c.line(margin, c.y-2, width-margin, c.y-2)
		for _, text := range wrap(label, columns(width-2*margin)) {
			c.text(margin, c.y+12, "", text)
			c.y += line
		}
		for i, s := range f.Series {
			x := margin + float64(i)*column
			p, ok := s.at(label)
			if !ok {
				c.text(x, c.y+11, "faint", "–")
				continue
			}
			c.text(x, c.y+11, class(s, "faint"), p.shown())
			c.track(x, c.y+15, column-8, 5)
			if p.Y > 0 {
				c.box(x, c.y+15, max(1.5, (column-8)*scale.at(p.Y)), 5, f.colour(i))
			}
		}
		c.y += 30
	}
}

// heads names the columns.
func (f *Figure) heads(c *canvas, column float64) {
	deepest := 0
	for i, s := range f.Series {
		for row, word := range wrap(s.Name, columns(column)) {
			c.text(margin+float64(i)*column, c.y+4+float64(row)*12, class(s, "head"), word)
			deepest = max(deepest, row)
		}
	}
	c.y += 18 + float64(deepest)*12
}
