package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// checkTerms checks what the workers of one election have left in their log: no two of them, nor their children, were
// alive at once, and tokens only rose.
func checkTerms(t *testing.T, entries []entry) {
	t.Helper()
	for _, e := range entries {
		if e.Event == overlapped {
			t.Errorf("the worker %d of token %d found another one alive at %v", e.PID, e.Token, e.At)
		}
	}
	var before life
	for _, l := range lives(entries) {
		if before.end >= l.begin {
			t.Errorf("the worker %d (token %d) was alive at %v, after %d (token %d) had begun at %v",
				before.pid, before.token, before.end, l.pid, l.token, l.begin)
		}
		if before.token > l.token {
			t.Errorf("the token fell from %d to %d", before.token, l.token)
		}
		before = l
	}
}

// life is the time through which a worker certainly lived.
type life struct {
	pid        int
	token      uint64
	begin, end guard.Instant
}

// lives returns the lives of all workers in the order of their beginning.
func lives(entries []entry) []life {
	byPID := map[int]life{}
	for _, e := range entries {
		l, known := byPID[e.PID]
		if !known {
			l = life{pid: e.PID, token: e.Token, begin: e.At}
		}
		l.end = e.At
		byPID[e.PID] = l
	}
	return slices.SortedFunc(maps.Values(byPID), func(a, b life) int { return int(a.begin - b.begin) })
}
