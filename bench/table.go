package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// table is one of a report, in Markdown.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	line := func(cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.head)
	rules := make([]string, len(t.head))
	for i := range rules {
		rules[i] = "---:"
	}
	rules[0] = "---"
	line(rules)
	for _, row := range t.rows {
		line(row)
	}
	fmt.Fprintln(w)
}

// none stands in a cell for which there is no number.
const none = "–"

// number prints a value with three digits that mean something.
func number(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return none
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
		return none
	}
	return number(Ratio(s.Median(), unit)) + " / " + number(Ratio(s.Percentile(99), unit))
}

// per divides counts, without a number if there are none.
func per(counts Counts, name string, n float64) string {
	value, ok := counts[name]
	if !ok {
		return none
	}
	return number(value / n)
}
