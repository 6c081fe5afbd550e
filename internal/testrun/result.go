package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// event is what test2json says of a test.
type event struct {
	Action  string
	Test    string
	Output  string
	Elapsed float64 // seconds
}

// result is what became of a package's tests.
type result struct {
	job
	wall, cpu time.Duration
	err       error  // why it failed, nil if it did not
	failed    string // what the tests that failed printed, and what no test did
	passed    int
	tests     []testTime
	skipped   []skip
}

// testTime is how long a test took, those below it included.
type testTime struct {
	dir, test string
	took      time.Duration
}

// skip is a test that was left out, and why.
type skip struct{ dir, test, why string }

// read collects the events of a package's tests, until they end.
func (r *result) read(events io.Reader) {
	printed, fine := map[string]*strings.Builder{}, map[string]bool{}
	var order []string
	for scanner := newScanner(events); scanner.Scan(); {
		var e event
		if json.Unmarshal(scanner.Bytes(), &e) != nil {
			e = event{Action: "output", Output: scanner.Text() + "\n"}
		}
		if printed[e.Test] == nil {
			printed[e.Test] = new(strings.Builder)
			order = append(order, e.Test)
		}
		printed[e.Test].WriteString(e.Output)
		r.note(e, printed[e.Test].String, fine)
	}
	var text strings.Builder
	for _, test := range order {
		if !fine[test] { // failed, or never ended, or is no test's
			text.WriteString(printed[test].String())
		}
	}
	r.failed = text.String()
}

// note keeps what an event says of the end of a test.
func (r *result) note(e event, printed func() string, fine map[string]bool) {
	if e.Test == "" {
		return
	}
	top := !strings.Contains(e.Test, "/")
	switch e.Action {
	case "fail":
	case "pass":
		fine[e.Test] = true
		if top {
			r.passed++
		}
	case "skip":
		fine[e.Test] = true
		r.skipped = append(r.skipped, skip{r.dir, e.Test, reason(printed())})
	default:
		return
	}
	if top {
		r.tests = append(r.tests, testTime{r.dir, e.Test, time.Duration(e.Elapsed * float64(time.Second))})
	}
}

// reason finds why a test was skipped in what it printed: it stands behind the file and line.
func reason(printed string) string {
	for line := range strings.Lines(printed) {
		if _, why, found := strings.Cut(line, ".go:"); found {
			_, why, _ = strings.Cut(why, ": ")
			return strings.TrimSpace(why)
		}
	}
	return "no reason given"
}

func newScanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	return s
}
