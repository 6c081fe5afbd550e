package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/bench/plot"
)

func point(label string, y float64) plot.Point { return plot.Point{Label: label, Y: y} }

// figures are one of each kind.
func figures() map[string]plot.Figure {
	crowd := func(factor float64) []plot.Point {
		return []plot.Point{{X: 3, Y: factor}, {X: 50, Y: 2 * factor}, {X: 500, Y: 9 * factor}}
	}
	faults := func(a, b float64) []plot.Point {
		return []plot.Point{point("a partition & more", a), point("a pause", b)}
	}
	return map[string]plot.Figure{
		"lines": {
			Title: "Hand-over", Note: "Medians, in round trips.", Kind: plot.Lines,
			X: plot.Axis{Label: "candidates", Log: true}, Y: plot.Axis{Label: "round trips", Log: true},
			Series: []plot.Series{{Name: "tenure", Ours: true, Points: crowd(2)}, {Name: "other", Points: crowd(30)}},
		},
		"bars": {
			Title: "Requests", Kind: plot.Bars, Y: plot.Axis{Label: "requests a minute", Log: true},
			Series: []plot.Series{
				{Name: "tenure", Ours: true, Points: faults(1.9, 0)}, {Name: "other", Points: faults(54939.2, 12)},
			},
		},
		"cells": {
			Title: "Overlaps", Kind: plot.Cells, Y: plot.Axis{Label: "histories with two leaders, of 200", Max: 200},
			Series: []plot.Series{
				{Name: "tenure", Ours: true, Points: faults(0, 0)}, {Name: "other", Points: faults(200, 33)[:1]},
			},
		},
	}
}

func TestDrawsWhatItIsGiven(t *testing.T) {
	for name, f := range figures() {
		svg, err := f.SVG()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		texts := texts(t, svg)
		for _, s := range f.Series {
			if !strings.Contains(texts, s.Name) {
				t.Errorf("%s does not name the series %s", name, s.Name)
			}
			for _, p := range s.Points {
				if !strings.Contains(texts, p.Label) {
					t.Errorf("%s does not name %q", name, p.Label)
				}
			}
		}
		if !strings.Contains(string(svg), "prefers-color-scheme:dark") {
			t.Errorf("%s has no colours for dark ground", name)
		}
	}
}

// texts returns the text of a drawing, which must be well formed.
func texts(t *testing.T, svg []byte) string {
	t.Helper()
	var all strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if text, ok := token.(xml.CharData); ok {
			all.Write(text)
			all.WriteByte('\n')
		}
	}
}

// A bar of twice the value is twice as long; a cell without a value has none.
func TestBarsAreAsLongAsTheirValues(t *testing.T) {
	f := plot.Figure{Title: "t", Kind: plot.Bars, Series: []plot.Series{
		{Name: "s", Points: []plot.Point{point("a", 100), point("b", 50)}},
	}}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	widths := widths(t, svg)
	if len(widths) != 2 || widths[0] != 2*widths[1] {
		t.Errorf("the bars of 100 and 50 are %v wide", widths)
	}
	cells := figures()["cells"]
	svg, err = cells.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if filled := strings.Count(string(svg), "fill:var(--c1)"); filled != 1 {
		t.Errorf("%d cells are filled, want the one of 200", filled)
	}
}

func widths(t *testing.T, svg []byte) []float64 {
	t.Helper()
	var drawing struct {
		Boxes []struct {
			Width float64 `xml:"width,attr"`
		} `xml:"rect"`
	}
	if err := xml.Unmarshal(svg, &drawing); err != nil {
		t.Fatal(err)
	}
	var widths []float64
	for _, b := range drawing.Boxes {
		widths = append(widths, b.Width)
	}
	return widths
}

func TestWriteAndDrawAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "figures")
	for name, f := range figures() {
		if err := f.Write(dir, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range figures() {
		want, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".svg")
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := plot.Draw(dir); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s drawn from its file differs: %v", name, err)
		}
	}
}

func TestRefusesWhatCannotBeDrawn(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"title":"t","kind":"pie","series":[{"name":"s","points":[{"y":1}]}]}`, `{"title":"t","kind":"bars"}`,
		`{"title":"t","kind":"bars","series":[{"name":"s"}]}`, `{"unknown":1}`, `no JSON`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := plot.Draw(dir); err == nil || !strings.Contains(err.Error(), "f.json") {
			t.Errorf("%s was drawn, or the error does not name the file: %v", text, err)
		}
	}
}
