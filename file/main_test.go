//go:build unix

package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// helperVariable makes this test binary one of the processes that a test is about.
const helperVariable = "TENURE_FILE_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) == "" {
		os.Exit(m.Run())
	}
	if err := helper(os.Args[1], os.Args[2:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// helper is what a process of a test does: it prints a line for each thing done, and goes when its input ends.
func helper(command string, args []string) error {
	switch command {
	case "lead":
		return lead(args[0], args[1])
	case "count":
		return count(args[0], args[1], args[2])
	case "act":
		return act(args[0], args[1], args[2], args[3])
	case "linger":
		// Whoever kills the process cannot be relied upon if the test fails.
		time.Sleep(2 * time.Minute)
		return nil
	}
	return fmt.Errorf("unknown command %q", command)
}

// lead begins a term and then does what it is told.
func lead(dir, election string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	snapshot, err := begin(s, election, fmt.Sprint("process-", os.Getpid()))
	if err != nil {
		return err
	}
	fmt.Println("leading", snapshot.Record.Token)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		switch input.Text() {
		case "renew":
			snapshot.Record.Renewals++
			snapshot, err = s.CompareAndSwap(context.Background(), election, snapshot.Version, snapshot.Record)
		case "vacate":
			snapshot, err = s.CompareAndSwap(context.Background(), election, snapshot.Version, vacant(snapshot.Record))
		case "child":
			err = startChild(s, election, snapshot.Record.Token)
		}
		fmt.Println("done", err)
	}
	return nil
}

func startChild(s *Store, election string, token uint64) error {
	lock, err := s.TermLock(election, token)
	if err != nil {
		return err
	}
	defer lock.Close()
	child := helperCommand("linger")
	child.ExtraFiles = []*os.File{lock}
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println("child", child.Process.Pid)
	return nil
}

// count adds one to a number in the record, time and again.
func count(dir, election, times string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	n, err := strconv.Atoi(times)
	for err == nil && n > 0 {
		err = addOne(s, election)
		if errors.Is(err, tenure.ErrConflict) {
			err = nil
			continue
		}
		n--
	}
	fmt.Println("done", err)
	return err
}

func addOne(s *Store, election string) error {
	snapshot, err := s.Load(context.Background(), election)
	if err != nil {
		return err
	}
	record := snapshot.Record
	number, _ := strconv.Atoi(record.Metadata["number"])
	record.Metadata = map[string]string{"number": strconv.Itoa(number + 1)}
	_, err = s.CompareAndSwap(context.Background(), election, snapshot.Version, record)
	return err
}

// act does one thing to a store, with a signal to itself after the step that is named: by its number, or by its kind
// and the end of its path. To be frozen makes sense only after the record was read.
func act(dir, action, signal, at string) error {
	steps, counting := 0, signal != "STOP"
	hook := option(func(c *config) {
		c.after = func(s step) {
			if counting = counting || s.op == "read"; !counting {
				return
			}
			steps++
			if strconv.Itoa(steps) == at || matches(s, at) {
				raise(signal)
			}
		}
	})
	s, err := Open(dir, hook)
	if err != nil {
		return err
	}
	err = actions[action](s)
	fmt.Println("acted", err)
	return nil
}

func matches(s step, at string) bool {
	op, end, _ := strings.Cut(at, ":")
	return s.op == op && strings.HasSuffix(s.path+s.to, end)
}

func raise(name string) {
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}
	raiseHere(signals[name])
}

// actions change the election "e", in ways that differ in what they do on the disk.
var actions = map[string]func(*Store) error{
	"open":  func(*Store) error { return nil },
	"first": func(s *Store) error { return beginAs(s, "first") },
	"left": func(s *Store) error {
		if err := beginAs(s, "first"); err != nil {
			return err
		}
		return change(s, func(r *tenure.Record) { *r = vacant(*r) })
	},
	"begin":  func(s *Store) error { return beginAs(s, "second") },
	"renew":  func(s *Store) error { return change(s, func(r *tenure.Record) { r.Renewals++ }) },
	"vacate": func(s *Store) error { return change(s, func(r *tenure.Record) { *r = vacant(*r) }) },
	"prune": func(s *Store) error {
		_, err := s.Prune(context.Background(), 0)
		return err
	},
}

func change(s *Store, edit func(*tenure.Record)) error {
	snapshot, err := s.Load(context.Background(), "e")
	if err != nil {
		return err
	}
	edit(&snapshot.Record)
	_, err = s.CompareAndSwap(context.Background(), "e", snapshot.Version, snapshot.Record)
	return err
}

func beginAs(s *Store, session string) error {
	_, err := begin(s, "e", session)
	return err
}

// begin begins the next term, whatever the present one is. Its lease is too long to matter.
func begin(s *Store, election, session string) (tenure.Snapshot, error) {
	snapshot, err := s.Load(context.Background(), election)
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return s.CompareAndSwap(context.Background(), election, snapshot.Version,
		leader(snapshot.Record.Token+1, session))
}

func leader(token uint64, session string) tenure.Record {
	return tenure.Record{Token: token, Leader: "leader-" + session, Session: session, TTL: time.Hour, Renewals: 1}
}

func vacant(r tenure.Record) tenure.Record {
	return tenure.Record{Token: r.Token, TTL: r.TTL, Metadata: r.Metadata}
}

func helperCommand(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	command := exec.Command(self, args...)
	// The race detector would have every process sleep for a second before it ends.
	command.Env = append(os.Environ(), helperVariable+"=1", "GORACE=atexit_sleep_ms=0")
	command.Stderr = os.Stderr
	return command
}

// process is a helper that runs.
type process struct {
	*exec.Cmd
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: helperCommand(args...), t: t}
	out, err := p.StdoutPipe()
	if err == nil {
		p.in, err = p.StdinPipe()
	}
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	t.Cleanup(p.kill)
	return p
}

// actElsewhere does one thing to a store, in a process that has ended when it returns.
func actElsewhere(t *testing.T, dir, action string) {
	t.Helper()
	p := start(t, "act", dir, action, "none", "never")
	p.expect("acted <nil>")
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
}

// line returns the next line that the process prints, or why there is none.
func (p *process) line() string {
	if !p.out.Scan() {
		return fmt.Sprint("end of output: ", p.out.Err())
	}
	return p.out.Text()
}

func (p *process) expect(want string) {
	p.t.Helper()
	if got := p.line(); !strings.HasPrefix(got, want) {
		p.t.Fatalf("the process printed %q, want %q", got, want)
	}
}

func (p *process) tell(line string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// stopped waits until the process has stopped. It may have ended instead.
func (p *process) stopped() bool {
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return status.Stopped()
}

func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

func openStore(t *testing.T, dir string, options ...Option) *Store {
	t.Helper()
	s, err := Open(dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "store")
}

func load(t *testing.T, s *Store, election string) tenure.Snapshot {
	t.Helper()
	snapshot, err := s.Load(context.Background(), election)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func mustSwap(t *testing.T, s *Store, election string, old tenure.Version, record tenure.Record) tenure.Snapshot {
	t.Helper()
	snapshot, err := s.CompareAndSwap(context.Background(), election, old, record)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func number(line, prefix string) (int, bool) {
	rest, ok := strings.CutPrefix(line, prefix)
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil
}

// alive reports whether a process runs. One that has ended and that nobody has waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || !strings.Contains(string(stat), ") Z ") {
		return true
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err == nil && len(threads) > 1 // the first thread may be gone, and the files still open by the others
}
