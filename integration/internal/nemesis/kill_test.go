//go:build linux

package nemesis

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/register"
	"github.com/tenure-go/tenure/integration/internal/worker"
)

// TestMain has this program be the command of a supervisor that a test has started: it lives until that is gone.
func TestMain(m *testing.M) {
	if !worker.Wanted() {
		os.Exit(m.Run())
	}
	parent := os.Getppid()
	for end := time.Now().Add(5 * time.Minute); os.Getppid() == parent && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// supervised is a candidate whose supervisor runs this program, and does so again as often as it says.
func supervised(t *testing.T, times string) *crew.Candidate {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "supervisor")
	script := "#!/bin/sh\nfor last; do :; done\nfor i in " + times + "; do \"$last\"; done\nexec sleep 3600\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := crew.New(worker.Config{Name: "a", Dir: dir}, &beds.Line{}, &crew.Group{}, program, nil, io.Discard)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Kill(); err != nil {
			t.Error(err)
		}
	})
	for c.Command() == 0 {
		time.Sleep(time.Millisecond)
	}
	return c
}

// draws plans kills until one is of what is wanted.
func draws(t *testing.T, c *crew.Candidate, want string) *Attack {
	t.Helper()
	s := bare()
	s.Candidates = []*crew.Candidate{c}
	var err error
	if s.Registers, err = register.Serve(false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Registers.Close() })
	for seed := range uint64(64) {
		if a := (kill{}).Plan(s, rand.New(rand.NewPCG(seed, 7)), nil); a.Targets[0] == want {
			return a
		}
	}
	t.Fatalf("no seed of 64 kills %s", want)
	return nil
}

// A kill of the command leaves the supervisor alone, and is over when another command runs.
func TestKillOfACommandAlone(t *testing.T) {
	c := supervised(t, "1 2 3")
	supervising, command := c.PID(), c.Command()
	a := draws(t, c, c.Name)
	if err := a.Begin(); err != nil {
		t.Fatal(err)
	}
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", command)); err == nil {
		t.Errorf("process %d still runs %s", command, exe)
	}
	effect, err := a.End()
	next := c.Command()
	if err != nil || !strings.Contains(effect, fmt.Sprintf("process %d was gone, and process %d ran", command, next)) {
		t.Errorf("what was seen: %q, %v", effect, err)
	}
	if next == 0 || next == command || c.PID() != supervising {
		t.Errorf("process %d runs in the place of %d, under %d instead of %d", next, command, c.PID(), supervising)
	}
}

// One that has ended meanwhile has its supervisor killed, and started again.
func TestKillOfACommandThatHasEnded(t *testing.T) {
	c := supervised(t, "1")
	supervising := c.PID()
	a := draws(t, c, c.Name)
	if _, err := c.KillCommand(); err != nil {
		t.Fatal(err)
	}
	if err := a.Begin(); err != nil || c.PID() != 0 {
		t.Fatalf("%v, and process %d runs", err, c.PID())
	}
	if effect, err := a.End(); err != nil || effect == "" || c.PID() == 0 || c.PID() == supervising {
		t.Errorf("%q, %v, and process %d runs after %d", effect, err, c.PID(), supervising)
	}
}

// The supervisor is still killed as well.
func TestKillOfASupervisor(t *testing.T) {
	c := supervised(t, "1 2 3")
	supervising := c.PID()
	a := draws(t, c, supervisor(c))
	if err := a.Begin(); err != nil || c.PID() != 0 {
		t.Fatalf("%v, and process %d runs", err, c.PID())
	}
	if _, err := a.End(); err != nil || c.PID() == 0 || c.PID() == supervising {
		t.Errorf("%v, and process %d runs after %d", err, c.PID(), supervising)
	}
}
