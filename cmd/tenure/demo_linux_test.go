package main

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/democmd"
)

// TestDemoProcess runs the demo in a process of its own, as its nodes are.
func TestDemoProcess(t *testing.T) {
	for name, run := range map[string]func(*testing.T){
		"ends with a verdict":           testDemoVerdict,
		"killed, leaves nothing behind": testDemoKilled,
		"interrupted, leaves nothing behind": func(t *testing.T) {
			testDemoEndedBy(t, syscall.SIGINT)
		},
		"terminated, leaves nothing behind": func(t *testing.T) {
			testDemoEndedBy(t, syscall.SIGTERM)
		},
		"without protection, ends with another verdict": testUnsafeDemoVerdict,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// demoProcess is a demo in a process of its own, with a temporary directory of its own.
type demoProcess struct {
	*osexec.Cmd
	lines  *bufio.Scanner
	temp   string
	output []string
}

func startDemo(t *testing.T, args ...string) *demoProcess {
	t.Helper()
	p := &demoProcess{Cmd: osexec.Command(os.Args[0], append([]string{"demo"}, args...)...), temp: t.TempDir()}
	p.Env = append(os.Environ(), roleVariable+"=hearing", "TMPDIR="+p.temp)
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// until reads the output up to a line with that text.
func (p *demoProcess) until(t *testing.T, text string) {
	t.Helper()
	for p.lines.Scan() {
		p.output = append(p.output, p.lines.Text())
		if strings.Contains(p.lines.Text(), text) {
			return
		}
	}
	t.Fatalf("the demo ended without saying %q: %q", text, p.output)
}

// end reads the rest of the output and returns the exit code.
func (p *demoProcess) end() int {
	for p.lines.Scan() {
		p.output = append(p.output, p.lines.Text())
	}
	_ = p.Wait() // the code says it all
	return p.ProcessState.ExitCode()
}

// nodes returns the PIDs of the demo's children.
func (p *demoProcess) nodes() []int {
	var pids []int
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.Process.Pid))
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		for _, field := range strings.Fields(string(text)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// kernelState returns the state of a process as the kernel abbreviates it, empty if there is none.
func kernelState(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}

func hasGone(pid int) bool { return kernelState(pid) == "" || kernelState(pid) == "Z" }

// soon waits for what other processes do, which takes real time.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// leftBehind returns what is in the demo's temporary directory.
func (p *demoProcess) leftBehind(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(p.temp)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// untilFrozen waits until a node is frozen and returns all nodes.
func (p *demoProcess) untilFrozen(t *testing.T) []int {
	t.Helper()
	p.until(t, "start")
	soon(t, "a node is frozen", func() bool {
		return slices.ContainsFunc(p.nodes(), func(pid int) bool { return kernelState(pid) == "T" })
	})
	return p.nodes()
}

func testDemoVerdict(t *testing.T) { demoVerdict(t, 0, "--for", "4s", "--ttl", "400ms") }

func testUnsafeDemoVerdict(t *testing.T) {
	// With leases that a busy machine keeps the frozen node leads, and with several freezes it is found to at least once.
	demoVerdict(t, democmd.OverlapCode, "--unsafe", "--for", "12s", "--ttl", "1s")
}

// demoVerdict runs a demo to its end, and expects an exit code.
func demoVerdict(t *testing.T, want int, args ...string) {
	t.Helper()
	p := startDemo(t, append(args, "--faults", "freeze")...)
	if code := p.end(); code != want {
		t.Errorf("the exit code is %d, want %d: %q", code, want, p.output)
	}
	left := p.leftBehind(t)
	if len(left) != 1 || !strings.HasSuffix(left[0], ".html") {
		t.Fatalf("left behind is %q, want the timeline alone", left)
	}
	path := filepath.Join(p.temp, left[0])
	if line := "timeline: " + path; !slices.Contains(p.output, line) {
		t.Errorf("%q is missing in %q", line, p.output)
	}
	page, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(page), `class="overlap`) != (want != 0) {
		t.Errorf("the timeline does not fit the exit code: %v, %d bytes", err, len(page))
	}
}

func testDemoEndedBy(t *testing.T, sig syscall.Signal) {
	p := startDemo(t, "--ttl", "1s", "--faults", "freeze")
	nodes := p.untilFrozen(t)
	if err := p.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if code := p.end(); code != 128+int(sig) {
		t.Errorf("the exit code is %d, want %d: %q", code, 128+int(sig), p.output)
	}
	for _, pid := range nodes {
		if !hasGone(pid) {
			t.Errorf("node %d is still there", pid)
		}
	}
	if left := p.leftBehind(t); len(nodes) != 3 || len(left) > 0 {
		t.Errorf("of %d nodes, %q is left behind", len(nodes), left)
	}
	if !strings.Contains(strings.Join(p.output, "\n"), "overlaps found") {
		t.Errorf("there is no summary: %q", p.output)
	}
}

func testDemoKilled(t *testing.T) {
	p := startDemo(t, "--ttl", "1s", "--faults", "freeze")
	nodes := p.untilFrozen(t)
	if len(nodes) != 3 {
		t.Fatalf("there are %d nodes", len(nodes))
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.end()
	for _, pid := range nodes {
		soon(t, fmt.Sprintf("node %d goes", pid), func() bool { return hasGone(pid) })
	}
	if left := p.leftBehind(t); len(left) > 0 {
		t.Errorf("%q is left behind", left)
	}
}

// A node that is frozen within a transaction of SQLite keeps everybody from writing. It is thawed, and the demo goes on.
func TestDemoOfANodeThatIsFrozenWithALock(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "elections.db")
	p := startDemo(t, "--store", "sqlite://"+file, "--for", "4s", "--ttl", "1s", "--faults", "freeze")
	over := make(chan struct{})
	released := make(chan error, 1)
	go func() { released <- p.lockWhileFrozen(file, over) }()
	code := p.end()
	close(over)
	if err := <-released; code != 0 || err != nil || !strings.Contains(strings.Join(p.output, "\n"), "thaw") {
		t.Errorf("the demo ended with %d, %v:\n%s", code, err, strings.Join(p.output, "\n"))
	}
}

// frozen returns the PID of a node that is stopped, zero if none is.
func (p *demoProcess) frozen() int {
	for _, pid := range p.nodes() {
		if kernelState(pid) == "T" {
			return pid
		}
	}
	return 0
}

// lockWhileFrozen locks the database in the place of the first node that is frozen, for as long as it is.
func (p *demoProcess) lockWhileFrozen(file string, over <-chan struct{}) error {
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	holder := 0
	for locked := false; ; {
		switch {
		case holder == 0:
			holder = p.frozen()
		case !locked:
			_, err := db.Exec("BEGIN IMMEDIATE")
			locked = err == nil
		case kernelState(holder) != "T":
			_, err := db.Exec("ROLLBACK")
			return err
		}
		select {
		case <-over:
			return errors.New("no node was frozen and thawed")
		case <-time.After(5 * time.Millisecond):
		}
	}
}
