// Package plot draws figures as SVG: text stays text, colours follow the reader's light or dark scheme, and everything
// can be read on a screen 360 pixels wide.
//
// A benchmark fills in a [Figure] and calls [Figure.Write], which leaves two files in docs/benchmarks: name.json, the
// numbers, and name.svg, drawn from them. The JSON form is that of Figure, with the fields' names in lower case;
// [Draw] draws all figures of a directory anew.
package plot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Kind is a way to draw.
type Kind string

const (
	// Lines are one line for each series, over X.
	Lines Kind = "lines"
	// Bars are one group for each label, with one bar for each series; the bars run to the right.
	Bars Kind = "bars"
	// Cells are one row for each label and one column for each series, with a bar in each cell.
	Cells Kind = "cells"
)

// Figure is what is drawn.
type Figure struct {
	// Title is one line, of some 50 characters at most.
	Title string `json:"title"`
	// Note is smaller text under the title: what is measured, and how to read it.
	Note string `json:"note,omitempty"`
	Kind Kind   `json:"kind"`
	// X is used by lines alone, Y by all.
	X Axis `json:"x,omitzero"`
	Y Axis `json:"y,omitzero"`
	// Series are at most eight. What is ours comes first and is drawn to be seen.
	Series []Series `json:"series"`
}

// Axis is one of two.
type Axis struct {
	// Label says what is measured, and the unit.
	Label string `json:"label,omitempty"`
	// Log makes the axis logarithmic. Values of zero and below are then drawn at its begin.
	Log bool `json:"log,omitempty"`
	// Max is the end of the axis, zero for the largest value.
	Max float64 `json:"max,omitempty"`
}

// Series are the values of one library, or of one store.
type Series struct {
	Name string `json:"name"`
	// Ours draws it in the accent colour.
	Ours   bool    `json:"ours,omitempty"`
	Points []Point `json:"points"`
}

// Point is one value.
type Point struct {
	// X is where a point of a line is.
	X float64 `json:"x,omitempty"`
	// Label is the group of a bar, or the row of a cell.
	Label string  `json:"label,omitempty"`
	Y     float64 `json:"y"`
	// Text stands at a bar in the place of its number.
	Text string `json:"text,omitempty"`
}

// Check returns an error that says what cannot be drawn.
func (f *Figure) Check() error {
	switch {
	case f.Title == "":
		return errors.New("a figure needs a title")
	case f.Kind != Lines && f.Kind != Bars && f.Kind != Cells:
		return fmt.Errorf("kind %q is none of %q, %q and %q", f.Kind, Lines, Bars, Cells)
	case len(f.Series) == 0 || len(f.Series) > len(strokes):
		return fmt.Errorf("%d series cannot be told apart: there must be 1 to %d", len(f.Series), len(strokes))
	}
	for _, s := range f.Series {
		if s.Name == "" || len(s.Points) == 0 {
			return fmt.Errorf("series %q needs a name and points", s.Name)
		}
	}
	return nil
}

// Write writes name.json and name.svg into a directory, which is made if it is not there.
func (f *Figure) Write(dir, name string) error {
	svg, err := f.SVG()
	if err != nil {
		return fmt.Errorf("figure %s: %w", name, err)
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("figure %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, name+".svg"), svg, 0o644),
	)
}

// Draw draws every name.svg of a directory from its name.json. A field that it does not know is an error.
func Draw(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := drawFile(name); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	return nil
}

func drawFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var f Figure
	if err := decoder.Decode(&f); err != nil {
		return err
	}
	svg, err := f.SVG()
	if err != nil {
		return err
	}
	return os.WriteFile(name[:len(name)-len(".json")]+".svg", svg, 0o644)
}

// SVG returns the drawing.
func (f *Figure) SVG() ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	c := newCanvas(f.Title, f.Note)
	switch f.Kind {
	case Bars:
		f.bars(c)
	case Cells:
		f.cells(c)
	default:
		f.lines(c)
	}
	return c.bytes(), nil
}

// labels are those of all series, in the order in which they first occur.
func (f *Figure) labels() []string {
	var labels []string
	seen := map[string]bool{}
	for _, s := range f.Series {
		for _, p := range s.Points {
			if !seen[p.Label] {
				labels = append(labels, p.Label)
				seen[p.Label] = true
			}
		}
	}
	return labels
}

func (s Series) at(label string) (Point, bool) {
	for _, p := range s.Points {
		if p.Label == label {
			return p, true
		}
	}
	return Point{}, false
}
