package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// explanation says why a mutant may survive.
type explanation struct {
	name, reason string
	line         int
}

// explanations reads the file of them: the name of a mutant on a line, and below it, indented, the reason. Lines that
// begin with a # and empty ones are left out.
func explanations(file string) ([]explanation, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: it may be empty, but has to be there", err)
	}
	if err != nil {
		return nil, err
	}
	var all []explanation
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		words := strings.TrimSpace(line)
		switch {
		case words == "" || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t"):
			all = append(all, explanation{name: words, line: number})
		case len(all) == 0:
			return nil, fmt.Errorf("%s:%d: a reason without a mutant: the name stands above it, not indented", file, number)
		default:
			last := &all[len(all)-1]
			last.reason = strings.TrimSpace(last.reason + " " + words)
		}
	}
	return all, unclear(file, all)
}

// unclear refuses explanations that do not explain.
func unclear(file string, all []explanation) error {
	seen := map[string]bool{}
	for _, e := range all {
		if e.reason == "" {
			return fmt.Errorf("%s:%d: %s has no reason: write it below, indented", file, e.line, e.name)
		}
		if seen[e.name] {
			return fmt.Errorf("%s:%d: %s is explained twice", file, e.line, e.name)
		}
		seen[e.name] = true
	}
	return nil
}

// stale tells why explanations no longer hold: their mutant does not exist, or does not survive. Of one that was not
// judged nothing is said.
func stale(all []explanation, mutants []*mutant, results map[string]result) (problems []string) {
	for _, e := range all {
		exists := slices.ContainsFunc(mutants, func(m *mutant) bool { return m.name == e.name })
		r, judged := results[e.name]
		switch {
		case !exists:
			problems = append(problems, e.name+": there is no such mutant any more")
		case judged && r.Verdict == killed:
			problems = append(problems, e.name+": it does not survive, judge "+r.Judge+" kills it")
		case judged && r.Verdict == noCompile:
			problems = append(problems, e.name+": it does not compile")
		}
	}
	return problems
}
