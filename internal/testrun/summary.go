package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// How many packages and tests the tables show, and how many tests with something that was skipped.
const (
	showPackages = 20
	showTests    = 20
	showSkipped  = 6
)

// summary is what a run ends with.
type summary struct {
	results []result
	left    []string // directories of packages left to make test-all

	mu     sync.Mutex
	phases []phase
}

type phase struct {
	name string
	took time.Duration
}

// phase begins a phase, and returns what ends it.
func (s *summary) phase(name string) (end func()) {
	began := time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.phases = append(s.phases, phase{name, time.Since(began)})
	}
}

func (s *summary) failed() bool {
	return slices.ContainsFunc(s.results, func(r result) bool { return r.err != nil })
}

// matched returns an error if tests were asked for by a pattern, and there are none.
func (s *summary) matched(pattern string) error {
	ran := func(r result) bool { return r.err != nil || len(r.tests) > 0 }
	if pattern == "" || slices.ContainsFunc(s.results, ran) {
		return nil
	}
	return fmt.Errorf("no test matches %q in what this run tests", pattern)
}

// print says of a package how its tests went, and shows what those printed that failed.
func (r result) print(w io.Writer) {
	outcome := "ok    "
	if r.err != nil {
		outcome = "FAILED"
		fmt.Fprint(w, r.failed)
		fmt.Fprintf(w, "%s: %v\n", r.name(), r.err)
	}
	how := ""
	if r.mode == race {
		how = "race"
	}
	fmt.Fprintf(w, "%s %-32s %5.0f s %5.0f s of processors  %3d tests %s\n",
		outcome, r.name(), r.wall.Seconds(), r.cpu.Seconds(), r.passed, how)
}

func (s *summary) print(w io.Writer) {
	s.printTimes(w)
	s.printLeft(w)
	if s.failed() {
		fmt.Fprintln(w, "\nfailed:")
		for _, r := range s.results {
			if r.err != nil {
				fmt.Fprintf(w, "  %s: %v\n", r.name(), r.err)
			}
		}
	}
}

// printTimes shows where the time went.
func (s *summary) printTimes(w io.Writer) {
	var cpu time.Duration
	var tests []testTime
	for _, r := range s.results {
		cpu += r.cpu
		tests = append(tests, r.tests...)
	}
	fmt.Fprintf(w, "\nwhere the time went (the tests took %.0f s of processors)\n", cpu.Seconds())
	for _, p := range s.phases {
		fmt.Fprintf(w, "  %-50s %5.0f s\n", p.name, p.took.Seconds())
	}
	byWall := slices.SortedFunc(slices.Values(s.results), func(a, b result) int { return cmp.Compare(b.wall, a.wall) })
	fmt.Fprintln(w, "packages, by the clock and of processors")
	for _, r := range byWall[:min(showPackages, len(byWall))] {
		fmt.Fprintf(w, "  %-50s %5.0f s %5.0f s\n", r.name(), r.wall.Seconds(), r.cpu.Seconds())
	}
	slices.SortFunc(tests, func(a, b testTime) int { return cmp.Compare(b.took, a.took) })
	fmt.Fprintln(w, "slow tests, by the clock")
	for _, t := range tests[:min(showTests, len(tests))] {
		fmt.Fprintf(w, "  %-50s %5.0f s\n", t.dir+" "+t.test, t.took.Seconds())
	}
}

// printLeft tells what was not tested.
func (s *summary) printLeft(w io.Writer) {
	if len(s.left) > 0 {
		fmt.Fprintf(w, "\nleft to make test-all, whole packages: %s\n", strings.Join(s.left, ", "))
	}
	why := s.reasons()
	if len(why) > 0 {
		fmt.Fprintln(w, "\nskipped:")
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		tests := slices.Compact(slices.Clone(why[reason]))
		more := ""
		if n := len(tests) - showSkipped; n > 0 {
			tests, more = tests[:showSkipped], fmt.Sprintf(", and in %d more", n)
		}
		fmt.Fprintf(w, "  %s (%d): %s%s\n", reason, len(why[reason]), strings.Join(tests, ", "), more)
	}
}

// reasons returns in which tests something was skipped, by the reason: each as often as it was.
func (s *summary) reasons() map[string][]string {
	why := map[string][]string{}
	for _, r := range s.results {
		for _, skipped := range r.skipped {
			test, _, _ := strings.Cut(skipped.test, "/")
			why[skipped.why] = append(why[skipped.why], skipped.dir+" "+test)
		}
	}
	return why
}
