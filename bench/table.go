package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// Table is one of a report, in Markdown. Its first column is aligned to the left, the others to the right.
type Table struct {
	Head []string
	Rows [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write writes the table and an empty line.
func (t *Table) Write(w io.Writer) {
	line := func(cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.Head)
	rules := make([]string, len(t.Head))
	for i := range rules {
		rules[i] = "---:"
	}
	rules[0] = "---"
	line(rules)
	for _, row := range t.Rows {
		line(row)
	}
	fmt.Fprintln(w)
}

// None stands in a cell for which there is no number.
const None = "–"

// Number prints a value with three digits that mean something.
func Number(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return None
	case x == 0:
		return "0"
	case math.Abs(x) >= 100:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// pair prints a median and a 99th percentile, both as multiples of a unit.
func pair(s Series, unit time.Duration) string {
	if len(s) == 0 {
		return None
	}
	return Number(Ratio(s.Median(), unit)) + " / " + Number(Ratio(s.Percentile(99), unit))
}

// per divides counts, without a number if there are none.
func per(counts Counts, name string, n float64) string {
	value, ok := counts[name]
	if !ok {
		return None
	}
	return Number(value / n)
}
