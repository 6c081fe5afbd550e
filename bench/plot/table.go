package plot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Table is one of a document in Markdown.
type Table struct {
	Head []string
	Rows [][]string
}

// ReadTable returns the first table under a heading, which is given without its marks. A table without rows counts as
// none.
func ReadTable(document, heading string) (Table, error) {
	var t Table
	under := false
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			under = strings.TrimSpace(strings.TrimLeft(line, "#")) == heading
		case !under || line == "" && t.Head == nil:
		case strings.HasPrefix(line, "|"):
			t.add(strings.Split(strings.Trim(line, "|"), "|"))
		case t.Head != nil:
			under = false
		}
	}
	if len(t.Rows) == 0 {
		return t, fmt.Errorf("there is no table under %q", heading)
	}
	return t, nil
}

func (t *Table) add(cells []string) {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	switch {
	case t.Head == nil:
		t.Head = cells
	case strings.HasPrefix(cells[0], "---"):
	default:
		t.Rows = append(t.Rows, cells)
	}
}

// Column returns the index of a column, -1 if there is none.
func (t *Table) Column(name string) int { return slices.Index(t.Head, name) }

// Cell returns what stands in a row, empty if there is no such column.
func Cell(row []string, column int) string {
	if column < 0 || column >= len(row) {
		return ""
	}
	return row[column]
}

// Value returns the first number of a cell; false if the cell begins with none.
func Value(cell string) (float64, bool) {
	first, _, _ := strings.Cut(strings.Trim(cell, "* "), " ")
	v, err := strconv.ParseFloat(first, 64)
	return v, err == nil
}
