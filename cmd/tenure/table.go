package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// cell is one field of a table.
type cell struct {
	text  string
	color color
}

// table is text in columns. Empty fields are printed as a hyphen, so that programs that split lines keep count.
type table struct {
	head []string
	rows [][]cell
}

func (t *table) add(row ...cell) { t.rows = append(t.rows, row) }

// write prints the table in one piece.
func (t *table) write(w io.Writer) error {
	var text strings.Builder
	widths := t.widths()
	head := make([]cell, len(t.head))
	for i, name := range t.head {
		head[i] = cell{name, bold}
	}
	writeRow(w, &text, widths, head)
	for _, row := range t.rows {
		writeRow(w, &text, widths, row)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for i, name := range t.head {
		widths[i] = len(name)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].shown()))
		}
	}
	return widths
}

func (c cell) shown() string {
	if c.text == "" {
		return "-"
	}
	return printable(c.text)
}

func writeRow(w io.Writer, out *strings.Builder, widths []int, row []cell) {
	for i, c := range row {
		text := c.shown()
		if c.text == "" {
			c.color = plain
		}
		out.WriteString(c.color.paint(w, text))
		if i < len(row)-1 {
			out.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2))
		}
	}
	out.WriteByte('\n')
}
