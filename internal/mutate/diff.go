package main

import (
	"fmt"
	"strings"
)

// around is how many lines of a file a difference shows before and after what has changed.
const around = 3

// diff shows a mutant as diff -u does.
func (m *mutant) diff() string {
	old, changed := lines(m.file.text), lines(m.text())
	same := 0
	for same < min(len(old), len(changed)) && old[same] == changed[same] {
		same++
	}
	end := 0
	for end < min(len(old), len(changed))-same && old[len(old)-1-end] == changed[len(changed)-1-end] {
		end++
	}
	from, to := max(0, same-around), min(len(old), len(old)-end+around)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", m.file.name, m.name)
	fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1, to-from+len(changed)-len(old))
	prefix(&out, " ", old[from:same])
	prefix(&out, "-", old[same:len(old)-end])
	prefix(&out, "+", changed[same:len(changed)-end])
	prefix(&out, " ", old[len(old)-end:to])
	return out.String()
}

func lines(text []byte) []string { return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") }

func prefix(out *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		out.WriteString(sign + line + "\n")
	}
}
