package testserver

import (
	"fmt"
	"strconv"
	"strings"
)

// Metrics are what a server tells of itself in Prometheus' text format.
type Metrics string

// Sum adds up the samples of a metric that have all the labels, such as `verb="PUT"`. It is zero if there is none: a
// server does not name what it has not counted yet.
func (m Metrics) Sum(name string, labels ...string) (float64, error) {
	var sum float64
	for line := range strings.Lines(string(m)) {
		if !isSample(line, name, labels) {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " ")+1:]), 64)
		if err != nil {
			return 0, fmt.Errorf("the metric %s: %w", name, err)
		}
		sum += value
	}
	return sum, nil
}

func isSample(line, name string, labels []string) bool {
	rest, ok := strings.CutPrefix(line, name)
	if !ok || !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ") {
		return false
	}
	for _, label := range labels {
		if !strings.Contains(rest, "{"+label) && !strings.Contains(rest, ","+label) {
			return false
		}
	}
	return true
}
