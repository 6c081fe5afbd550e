package guard_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

const supervisorRole = "guard-test-supervisor"

func init() { roles[supervisorRole] = supervise }

// farAway is a time that no test lasts.
const farAway = time.Minute

// plan is what a supervisor process does: it starts the worker with deadlines that are far away and then does what
// it is told on its standard input.
type plan struct {
	Dir      string
	Worker   worker
	NoCgroup bool
}

func (p plan) lockFile() string { return filepath.Join(p.Dir, "lock") }

// request is a line of a supervisor's input.
type request struct {
	Do        string
	Deadlines guard.Deadlines
	Signal    syscall.Signal
}

// event is a line of a supervisor's output.
type event struct {
	Event    string
	PID      int
	Exit     guard.Exit
	Err      string
	Lost     bool
	Ending   bool
	Children int // that it has left, zombies included
}

func say(e event) { must(json.NewEncoder(os.Stdout).Encode(e)) }

// supervise is the life of a supervisor process.
func supervise(config string) {
	var p plan
	must(json.Unmarshal([]byte(config), &p))
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT) // before the start: what is ignored is inherited
	go sayInterrupts(interrupts)
	g, err := guard.Start(context.Background(), p.options())
	if err != nil {
		say(event{Event: "failed", Err: err.Error()})
		return
	}
	say(event{Event: "started", PID: g.PID()})
	go takeRequests(g)
	exit, err := g.Wait()
	say(event{
		Event: "ended", Exit: exit, Err: fmt.Sprint(err), Lost: errors.Is(err, guard.ErrLost),
		Children: len(children(os.Getpid())),
	})
}

func sayInterrupts(interrupts <-chan os.Signal) {
	for range interrupts {
		say(event{Event: "interrupted"})
	}
}

func (p plan) options() guard.Options {
	lock, err := os.OpenFile(p.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	must(err)
	must(unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	return guard.Options{
		Command: p.Worker.command(), Stdin: terminal(), Stdout: terminal(), Stderr: os.Stderr,
		Lock: lock, NoCgroup: p.NoCgroup,
		Deadlines: guard.Within(guard.Now().Add(farAway), farAway),
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
}

// terminal returns the controlling terminal, if there is one.
func terminal() *os.File {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return file
}

func takeRequests(g *guard.Guard) {
	for decoder := json.NewDecoder(os.Stdin); ; {
		var r request
		if decoder.Decode(&r) != nil {
			return
		}
		err := r.put(g)
		say(event{Event: r.Do, Err: fmt.Sprint(err), Ending: errors.Is(err, guard.ErrEnding)})
	}
}

func (r request) put(g *guard.Guard) error {
	switch r.Do {
	case "extend":
		return g.Extend(r.Deadlines)
	case "terminate":
		return g.Terminate(r.Deadlines.KillAt)
	case "signal":
		return g.Signal(r.Signal)
	case "kill":
		return g.Kill()
	}
	panic("unknown request " + r.Do)
}

// supervisor is a running supervisor process.
type supervisor struct {
	t      *testing.T
	plan   plan
	cmd    *exec.Cmd
	in     io.Writer
	events chan event
	guard  int // the guard process
	leader int // the command
}

// startSupervisor returns when the whole tree of workers is at work.
func startSupervisor(t *testing.T, p plan) *supervisor {
	t.Helper()
	s := newSupervisor(t, p)
	s.start()
	return s
}

func newSupervisor(t *testing.T, p plan) *supervisor {
	t.Helper()
	p.Dir = workDir(t)
	p.Worker = p.Worker.in(p.Dir)
	config, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return &supervisor{
		t: t, plan: p, cmd: exec.Command("/proc/self/exe", supervisorRole, string(config)), events: make(chan event, 100),
	}
}

// workDir returns a directory whose name all processes of the test bear in their arguments. At the end of the test
// none of them may be left.
func workDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		if !t.Failed() {
			if left := living(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
		for left := living(dir); len(left) > 0; left = living(dir) {
			for _, p := range left {
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
			time.Sleep(time.Millisecond)
		}
	})
	return dir
}

func (s *supervisor) start() {
	s.t.Helper()
	// A file and no pipe: processes that are frozen would keep the other end of a pipe open.
	log, err := os.Create(filepath.Join(s.plan.Dir, "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stderr = log
	in, err := s.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && s.t.Failed() {
			s.t.Logf("the supervisor's log:\n%s", text)
		}
	})
	s.in = in
	go s.read(out)
	s.leader = s.expect("started").PID
	s.guard = parentOf(s.leader)
	for _, name := range s.plan.Worker.names() {
		eventually(s.t, name+" is at work", func() bool { _, pid := lastBeat(s.plan.Dir, name); return pid != 0 })
	}
	eventually(s.t, "no other worker is left", func() bool { return len(s.working()) == len(s.plan.Worker.names()) })
}

func (s *supervisor) read(out io.Reader) {
	defer close(s.events)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			s.events <- e
		}
	}
}

// expect returns the next event, which must be of the kind given.
func (s *supervisor) expect(kind string) event {
	s.t.Helper()
	select {
	case e, ok := <-s.events:
		if !ok || e.Event != kind {
			s.t.Fatalf("the supervisor says %+v, want %q", e, kind)
		}
		return e
	case <-time.After(patience):
		s.t.Fatalf("the supervisor does not say %q", kind)
	}
	panic("unreachable")
}

// do sends a request and waits for the answer.
func (s *supervisor) do(r request) event {
	s.t.Helper()
	if err := json.NewEncoder(s.in).Encode(r); err != nil {
		s.t.Fatal(err)
	}
	return s.expect(r.Do)
}

func (s *supervisor) extend(d guard.Deadlines) {
	s.t.Helper()
	if e := s.do(request{Do: "extend", Deadlines: d}); e.Err != "<nil>" {
		s.t.Fatalf("extend: %s", e.Err)
	}
}

// lockIsFree reports whether another process could take the lock now.
func (s *supervisor) lockIsFree() bool {
	s.t.Helper()
	file, err := os.Open(s.plan.lockFile())
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		s.t.Fatal(err)
	}
	return err == nil
}

// waitForLock waits like a follower does until the lock is free, and returns when that was.
func (s *supervisor) waitForLock() guard.Instant {
	s.t.Helper()
	eventually(s.t, "the lock is free", s.lockIsFree)
	return guard.Now()
}

// working returns the workers that are alive.
func (s *supervisor) working() []row {
	var rows []row
	for _, p := range living(s.plan.Dir) {
		if strings.HasPrefix(p.arguments, "/proc/self/exe\x00"+workerRole) {
			rows = append(rows, p)
		}
	}
	return rows
}

// waitForDeath waits until no worker is alive.
func (s *supervisor) waitForDeath() {
	s.t.Helper()
	eventually(s.t, "all workers are dead", func() bool { return len(s.working()) == 0 })
}

// lastWork returns when any of the workers last worked.
func (s *supervisor) lastWork() guard.Instant {
	var last guard.Instant
	for _, name := range s.plan.Worker.names() {
		at, _ := lastBeat(s.plan.Dir, name)
		last = max(last, at)
	}
	return last
}

// patience is how long a test waits for what must happen soon, on a machine that is busy with other things.
const patience = 3 * time.Minute

// eventually waits for other processes, of which there is nothing to wait on.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// sleepUntil waits until the boot clock has reached an instant: there is nothing to wait on but the clock.
func sleepUntil(at guard.Instant) {
	for now := guard.Now(); now < at; now = guard.Now() {
		time.Sleep(at.Sub(now))
	}
}

func freeze(t *testing.T, pid int) {
	t.Helper()
	kill(t, pid, syscall.SIGSTOP)
	eventually(t, "the process is frozen", func() bool { p, ok := readRow(pid); return ok && p.state == "T" })
}

func thaw(t *testing.T, pid int) {
	t.Helper()
	kill(t, pid, syscall.SIGCONT)
}

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if pid <= 0 { // it would be for the whole process group, which is that of who runs the tests, too
		t.Fatalf("send %v: there is no process", sig)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("send %v to %d: %v", sig, pid, err)
	}
}

// row is a process as the system shows it.
type row struct {
	pid, parent int
	state       string
	arguments   string
}

func (r row) String() string {
	return fmt.Sprintf("%d (%s) %s", r.pid, r.state, strings.ReplaceAll(r.arguments, "\x00", " "))
}

// readRow reads a process. One is a zombie only if all its threads are.
func readRow(pid int) (r row, ok bool) {
	process := fmt.Sprintf("/proc/%d", pid)
	r, ok = readThread(process)
	threads, _ := filepath.Glob(process + "/task/*")
	for _, thread := range threads {
		if living, ok := readThread(thread); r.state == "Z" && ok {
			r = living
		}
	}
	r.pid = pid
	return r, ok
}

func readThread(directory string) (r row, ok bool) {
	text, err := os.ReadFile(filepath.Join(directory, "stat"))
	if err != nil {
		return r, false
	}
	_, err = fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &r.state, &r.parent)
	arguments, _ := os.ReadFile(filepath.Join(directory, "cmdline"))
	r.arguments = string(arguments)
	return r, err == nil
}

func table() (rows []row) {
	entries, err := os.ReadDir("/proc")
	must(err)
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if r, ok := readRow(pid); ok {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// living returns the processes that bear dir in their arguments and are no zombies.
func living(dir string) (rows []row) {
	for _, r := range table() {
		if r.pid != os.Getpid() && r.state != "Z" && r.state != "X" && strings.Contains(r.arguments, dir) {
			rows = append(rows, r)
		}
	}
	return rows
}

func children(pid int) (rows []row) {
	for _, r := range table() {
		if r.parent == pid {
			rows = append(rows, r)
		}
	}
	return rows
}

func parentOf(pid int) int {
	r, _ := readRow(pid)
	return r.parent
}
