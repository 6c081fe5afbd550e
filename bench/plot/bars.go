package plot

import "slices"

// bars draws a group for each label, and in it a bar for each series that has a value there. With one series it is
// named by the label alone.
func (f *Figure) bars(c *canvas) {
	const numbers = 54.0 // room for the number behind the longest bar
	scale := newScale(f.Y, f.values())
	left := margin
	if len(f.Series) > 1 {
		left += f.nameWidth()
	}
	c.axis(f.Y)
	for _, label := range f.labels() {
		c.text(margin, c.y+4, "", label)
		c.y += 9
		for i, s := range f.Series {
			p, ok := s.at(label)
			if !ok {
				continue
			}
			if len(f.Series) > 1 {
				c.text(left-5, c.y+9, class(s, "faint end"), s.Name)
			}
			length := (width - left - margin - numbers) * scale.at(p.Y)
			c.box(left, c.y+1, max(length, 1.5), 9, f.colour(i))
			c.text(left+max(length, 1.5)+5, c.y+9.5, class(s, "faint"), p.shown())
			c.y += 13
		}
		c.y += 11
	}
}

func (f *Figure) values() []float64 {
	var values []float64
	for _, s := range f.Series {
		for _, p := range s.Points {
			values = append(values, p.Y)
		}
	}
	return values
}

func (f *Figure) nameWidth() float64 {
	longest := slices.MaxFunc(f.Series, func(a, b Series) int { return len(a.Name) - len(b.Name) })
	return glyph*float64(len(longest.Name)) + 8
}

// colour is that of ours, or one for all others.
func (f *Figure) colour(i int) int {
	if f.Series[i].Ours {
		return 0
	}
	return 1
}

// axis says what the bars measure.
func (c *canvas) axis(a Axis) {
	if a.Label == "" {
		return
	}
	text := a.Label
	if a.Log {
		text += " (logarithmic)"
	}
	c.text(margin, c.y+4, "faint", text)
	c.y += line + 6
}

func (p Point) shown() string {
	if p.Text != "" {
		return p.Text
	}
	return number(p.Y)
}
