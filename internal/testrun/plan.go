package main

import (
	_ "embed" // for the table of packages
	"fmt"
	"slices"
	"strings"
)

//go:embed packages.txt
var table string

// mode is how a package's tests are run.
type mode string

const (
	plain mode = "plain"
	race  mode = "race"
	out   mode = "-" // left out
)

// line is one of the table's.
type line struct {
	dir       string
	test, all mode
	servers   []string
}

// parseTable parses the table.
func parseTable(table string) ([]line, error) {
	var all []line
	for text := range strings.Lines(table) {
		words := strings.Fields(text)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("packages.txt: %q has no column of make test, or none of make test-all", words[0])
		}
		l := line{words[0], mode(words[1]), mode(words[2]), words[3:]}
		for _, m := range []mode{l.test, l.all} {
			if m != plain && m != race && m != out {
				return nil, fmt.Errorf("packages.txt: %s is tested %q; use plain, race or -", l.dir, m)
			}
		}
		if l.test == out && l.all == out {
			return nil, fmt.Errorf("packages.txt: %s is never tested", l.dir)
		}
		all = append(all, l)
	}
	return all, nil
}

// place returns the number of the line that decides about a directory of the workspace.
func place(all []line, dir string) int {
	best := -1
	for i, l := range all {
		if within(dir, l.dir) && (best < 0 || len(l.dir) > len(all[best].dir)) {
			best = i
		}
	}
	return best
}

// within reports whether a directory lies in another one, or is the same.
func within(dir, other string) bool {
	return other == "." || dir == other || strings.HasPrefix(dir, other+"/")
}

// job is a package to test.
type job struct {
	pkg
	mode  mode
	short bool
	line  line
}

// plan is what a run tests, in order, and what it leaves to make test-all.
type plan struct {
	jobs    []job
	left    []string // the directories of packages
	servers []string // none means those that servers.txt gives to the run
}

// choose plans a run of packages that have tests.
func choose(lines []line, pkgs []pkg, o options) (plan, error) {
	var p plan
	order := map[string]int{}
	for _, pkg := range pkgs {
		i := place(lines, pkg.dir)
		if i < 0 {
			return plan{}, fmt.Errorf("packages.txt says nothing of %s", pkg.dir)
		}
		order[pkg.dir] = i
		switch m := o.mode(lines[i]); {
		case !o.names(pkg.dir):
		case m == out && !o.all:
			p.left = append(p.left, pkg.dir)
		case m != out:
			p.jobs = append(p.jobs, job{pkg, m, o.short(), lines[i]})
		}
	}
	slices.SortStableFunc(p.jobs, func(a, b job) int { return order[a.dir] - order[b.dir] })
	if len(p.jobs) == 0 {
		return plan{}, fmt.Errorf("there are no tests in %s; name a directory of the repository, such as stores/redis", o.dir)
	}
	if o.dir != "" {
		p.servers = p.needs()
	}
	return p, nil
}

// needs returns the servers of the packages that are tested.
func (p plan) needs() []string {
	servers := []string{}
	for _, j := range p.jobs {
		servers = append(servers, j.line.servers...)
	}
	slices.Sort(servers)
	return slices.Compact(servers)
}
