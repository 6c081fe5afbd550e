//go:build unix

package file

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tenure-go/tenure"
)

// A process is killed after every step of every action on the disk, one process for each. Whoever opens the store then
// finds the state before the action or the one after it, and nothing in the way.
func TestKilledAfterEveryStep(t *testing.T) {
	for action, prior := range priors {
		t.Run(action, func(t *testing.T) {
			t.Parallel() // the disk is what takes the time
			steps := 0
			for !testKilled(t, action, prior, steps+1) {
				steps++
			}
			if steps < 3 {
				t.Errorf("%s took %d steps: the test does not see what it does", action, steps)
			}
		})
	}
}

// priors name for every action what another process did to the store before, if anything.
var priors = map[string]string{"open": "", "begin": "first", "renew": "first", "vacate": "first", "prune": "left"}

// testKilled reports whether the action had fewer steps.
func testKilled(t *testing.T, action string, prior string, at int) (over bool) {
	dir := newDir(t)
	var before tenure.Snapshot
	if prior != "" {
		actElsewhere(t, dir, prior)
		before = load(t, openStore(t, dir), "e")
	}
	p := start(t, "act", dir, action, "KILL", strconv.Itoa(at))
	acted := p.line() == "acted <nil>"
	_ = p.Wait()
	checkAfter(t, action, dir, before, acted)
	return acted
}

func checkAfter(t *testing.T, action, dir string, before tenure.Snapshot, acknowledged bool) {
	t.Helper()
	s := openStore(t, dir)
	defer s.Close()
	leftovers(t, s)
	after := load(t, s, "e")
	old := after.Version == before.Version
	if !old && !succeeds(action, before, after) {
		t.Errorf("%s: neither the state before, %+v, nor the one after it: %+v", action, before, after)
	}
	if old && acknowledged && action != "open" {
		t.Errorf("%s was acknowledged and is lost", action)
	}
	next, err := begin(s, "e", "third")
	if err != nil || next.Record.Token <= before.Record.Token {
		t.Errorf("%s: next term: %+v, %v", action, next, err)
	}
	if names, err := s.List(context.Background()); err != nil || len(names) != 1 {
		t.Errorf("%s: list: %q, %v", action, names, err)
	}
}

// succeeds reports whether after is what the action makes of before.
func succeeds(action string, before, after tenure.Snapshot) bool {
	switch action {
	case "begin":
		return after.Record.Token == before.Record.Token+1 && after.Record.Session == "second"
	case "renew":
		return after.Record.Renewals == before.Record.Renewals+1 && after.Record.Leader == before.Record.Leader
	case "vacate":
		return after.Record.Vacant() && after.Record.Token == before.Record.Token
	case "prune":
		return !after.Exists() && after.Record.Token >= before.Record.Token
	}
	return false
}

// A process is frozen after every step of a bid. Another one takes over in spite of it, and when the first wakes up it
// changes nothing that came after it.
func TestFrozenAfterEveryStep(t *testing.T) {
	for _, action := range []string{"begin", "renew"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			steps := 0
			for !testFrozen(t, action, strconv.Itoa(steps+1)) {
				steps++
			}
			if steps < 7 {
				t.Errorf("%s took %d steps: the test does not see what it does", action, steps)
			}
		})
	}
}

func testFrozen(t *testing.T, action, at string) (over bool) {
	dir := newDir(t)
	s := openStore(t, dir)
	must(t, beginAs(s, "first"))
	p := start(t, "act", dir, action, "STOP", at)
	if !p.stopped() {
		return true
	}
	seen := load(t, s, "e")
	landed := seen.Version != "" && seen.Record.Renewals+seen.Record.Token != 2
	mine := mustSwap(t, s, "e", seen.Version, leader(10, "mine"))
	wake(t, p, landed)
	if got := load(t, s, "e"); got.Version != mine.Version {
		t.Errorf("frozen at step %s: the record is now %+v, should be %+v", at, got, mine)
	}
	leftovers(t, s)
	return false
}

// wake lets a frozen process go on, and checks that it knows what became of its write.
func wake(t *testing.T, p *process, landed bool) {
	t.Helper()
	must(t, p.Process.Signal(syscall.SIGCONT))
	got := p.line()
	if success := got == "acted <nil>"; success != landed {
		t.Errorf("the frozen process says %q, its write landed: %v", got, landed)
	}
	if !landed && !strings.Contains(got, tenure.ErrConflict.Error()) {
		t.Errorf("the frozen process says %q, want a conflict", got)
	}
}

// A process dies just after it has put its own swap lock into the place of a frozen one's: the next to take the lock
// must finish what it began, or the frozen process could still overwrite the record.
func TestReplacerKilled(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	must(t, beginAs(s, "first"))
	frozen := start(t, "act", dir, "renew", "STOP", "compare:e")
	if !frozen.stopped() {
		t.Fatal("the process has not stopped")
	}
	replacer := start(t, "act", dir, "renew", "KILL", "rename:locks/e.lock")
	if got := replacer.line(); strings.HasPrefix(got, "acted") {
		t.Fatalf("the replacer was not killed: %q", got)
	}
	mine := mustSwap(t, s, "e", load(t, s, "e").Version, leader(10, "mine"))
	wake(t, frozen, false)
	if got := load(t, s, "e"); got.Version != mine.Version {
		t.Errorf("the frozen process overwrote the record: %+v", got)
	}
}
