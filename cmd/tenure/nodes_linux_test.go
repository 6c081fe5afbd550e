package main

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/file"
	"github.com/tenure-go/tenure/internal/output"
)

// patience is how long a test waits for what has to happen some time, on however slow a machine.
const patience = 60 * time.Second

// arena is one election with a file store, processes of tenure that stand in it, and the log of their workers.
type arena struct {
	t    *testing.T
	dir  string
	flag string // that names the store
	log  string
	self string // the test binary
}

func newArena(t *testing.T) *arena {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	a := &arena{t: t, dir: store, flag: "--store=file:" + store, log: filepath.Join(dir, "log"), self: self}
	t.Cleanup(a.bury)
	return a
}

// bury waits for the death of every worker and guard. It is called after the nodes are dead.
func (a *arena) bury() {
	for _, e := range a.entries() {
		if e.Event == begun {
			a.eventually(fmt.Sprintf("the worker of token %d is dead", e.Token), func() bool { return gone(e.PID) && gone(e.Guard) })
		}
	}
}

// gone reports whether a process is dead or a zombie.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func (a *arena) entries() []entry { return readLog(a.log) }

func (a *arena) store() *file.Store {
	a.t.Helper()
	store, err := file.Open(a.dir)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = store.Close() })
	return store
}

// eventually polls: what it waits for happens in other processes.
func (a *arena) eventually(what string, happened func() bool) {
	a.t.Helper()
	for end := time.Now().Add(patience); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			a.t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// await waits for the first entry that fits.
func (a *arena) await(what string, fits func(entry) bool) (found entry) {
	a.t.Helper()
	a.eventually(what, func() bool {
		entries := a.entries()
		i := slices.IndexFunc(entries, fits)
		if i >= 0 {
			found = entries[i]
		}
		return i >= 0
	})
	return found
}

// awaitWorker waits until a worker begins under a token above the given one.
func (a *arena) awaitWorker(above uint64) entry {
	a.t.Helper()
	return a.await(fmt.Sprintf("a worker with a token above %d begins", above), func(e entry) bool {
		return e.Event == begun && e.Token > above
	})
}

// node is a process of tenure.
type node struct {
	a      *arena
	cmd    *osexec.Cmd
	stdout output.Buffer
	stderr output.Buffer
	ended  chan struct{}
}

// start starts a process of tenure, which is killed at the end of the test.
func (a *arena) start(args ...string) *node { return a.startAs("", args...) }

// startAs adds variables to the environment, separated by spaces.
func (a *arena) startAs(variables string, args ...string) *node {
	a.t.Helper()
	return a.launch(variables, a.self, append([]string{a.flag}, args...)...)
}

func (a *arena) launch(variables, program string, args ...string) *node {
	a.t.Helper()
	n := &node{a: a, cmd: osexec.Command(program, args...), ended: make(chan struct{})}
	// A race detector that keeps every process for another second would have each of them miss its drain.
	n.cmd.Env = append(os.Environ(), roleVariable+"=tenure", "WORKER_LOG="+a.log, "GORACE=atexit_sleep_ms=0")
	n.cmd.Env = append(n.cmd.Env, strings.Fields(variables)...)
	n.cmd.Stdout, n.cmd.Stderr = &n.stdout, &n.stderr
	n.cmd.WaitDelay = patience
	if err := n.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	go func() {
		defer close(n.ended)
		_ = n.cmd.Wait()
	}()
	a.t.Cleanup(func() {
		n.kill()
		if a.t.Failed() {
			a.t.Logf("node %d, %q, said:\n%s", n.cmd.Process.Pid, args, n.stderr.String())
		}
	})
	return n
}

// campaigning are the arguments of a candidate. Without a TTL among the flags it has a lease, and its command a drain, that
// no pause of a busy machine outlasts.
func campaigning(flags []string) []string {
	if !slices.Contains(flags, "--ttl") {
		flags = append([]string{"--ttl", "60s", "--drain", "20s"}, flags...)
	}
	return append([]string{"run", "--election", "x"}, flags...)
}

// run starts "tenure run" with the worker as its command.
func (a *arena) run(variables string, flags ...string) *node {
	a.t.Helper()
	args := campaigning(flags)
	return a.startAs(variables, append(args, "--", "env", roleVariable+"=worker", a.self)...)
}

// runShell starts "tenure run" with a shell script as its command.
func (a *arena) runShell(script string, flags ...string) *node {
	a.t.Helper()
	args := campaigning(flags)
	return a.start(append(args, "--", "sh", "-c", script)...)
}

func (n *node) signal(sig syscall.Signal) { _ = n.cmd.Process.Signal(sig) }

// kill kills the process, frozen or not, and waits for its death.
func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	<-n.ended
}

// wait waits for the end of the process and returns its exit status as shells report it.
func (n *node) wait() int {
	n.a.t.Helper()
	select {
	case <-n.ended:
	case <-time.After(patience):
		n.a.t.Fatalf("%q has not ended within %v", n.cmd.Args, patience)
	}
	status := n.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return -int(status.Signal()) // a shell would not tell the difference, but this is not how tenure ends
	}
	return status.ExitStatus()
}

// awaitText waits until the process has said something.
func (n *node) awaitText(text string) {
	n.a.t.Helper()
	n.a.eventually(fmt.Sprintf("the node says %q", text), func() bool { return strings.Contains(n.stderr.String(), text) })
}
