package guard_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

const workerRole = "guard-test-worker"

func init() {
	roles[workerRole] = work
	runtime.LockOSThread() // main runs in the first thread, for worker.Headless
}

// worker describes a process of the guarded command. It writes the time into a file over and over, so that the last
// entry tells when it was last able to act, and notes the signals that it gets.
type worker struct {
	Dir, Name string
	// Ignore says that signals are noted and otherwise ignored; without it the first one ends the worker.
	Ignore bool
	// Setsid makes it leave its parent's process group and session.
	Setsid bool
	// Children are started first, and are at work when it begins.
	Children []worker
	// Exit ends it when its children are at work, with Status or by Signal.
	Exit   bool
	Status int
	Signal syscall.Signal
	// Headless ends its first thread, so that it looks like a zombie to those who do not look closely.
	Headless bool
	// Inspect makes it note its open files and ignored signals.
	Inspect bool
	// Echo makes it read a line from its input and write it to its output.
	Echo bool
}

// in returns the worker and its descendants with their directory filled in.
func (w worker) in(dir string) worker {
	w.Dir = dir
	children := make([]worker, len(w.Children))
	for i, child := range w.Children {
		children[i] = child.in(dir)
	}
	w.Children = children
	return w
}

// names returns the names of the worker and its descendants that stay.
func (w worker) names() []string {
	var names []string
	if !w.Exit {
		names = append(names, w.Name)
	}
	for _, child := range w.Children {
		names = append(names, child.names()...)
	}
	return names
}

func (w worker) command() []string {
	config, err := json.Marshal(w)
	if err != nil {
		panic(err)
	}
	return []string{"/proc/self/exe", workerRole, string(config)}
}

func (w worker) file(kind string) string { return filepath.Join(w.Dir, w.Name+"."+kind) }

// work is the life of a worker. It ends by itself some time, lest a failed test leave it behind.
func work(config string) {
	var w worker
	must(json.Unmarshal([]byte(config), &w))
	signals := make(chan os.Signal, 16)
	if w.Inspect {
		w.inspect() // before the handlers are changed
	}
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	for _, child := range w.Children {
		child.launch()
	}
	if w.Exit {
		w.exit()
	}
	if w.Echo {
		go echo()
	}
	if w.Headless {
		go w.beat(signals)
		_, _, err := syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0) // of this thread alone, the first: see init
		panic(err)
	}
	w.beat(signals)
}

func (w worker) launch() {
	command := w.command()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: w.Setsid}
	must(cmd.Start())
	go cmd.Wait()
	for len(w.names()) > 0 {
		if exists(worker{Dir: w.Dir, Name: w.names()[0]}.file("beat")) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (w worker) exit() {
	if w.Signal != 0 {
		signal.Reset()
		must(syscall.Kill(os.Getpid(), w.Signal))
		select {}
	}
	os.Exit(w.Status)
}

func (w worker) beat(signals <-chan os.Signal) {
	file, err := os.CreateTemp(w.Dir, "beat")
	must(err)
	var entry [16]byte
	binary.NativeEndian.PutUint64(entry[8:], uint64(os.Getpid()))
	for n := range 60_000 {
		binary.NativeEndian.PutUint64(entry[:], uint64(guard.Now()))
		if _, err := file.WriteAt(entry[:], 0); err != nil {
			panic(err)
		}
		if n == 0 {
			must(os.Rename(file.Name(), w.file("beat")))
		}
		select {
		case sig := <-signals:
			w.note(sig)
		case <-time.After(time.Millisecond): // the time that is worked, not waited for
		}
	}
}

func (w worker) note(sig os.Signal) {
	file, err := os.OpenFile(w.file("signals"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	_, err = fmt.Fprintf(file, "%d %d\n", sig, guard.Now())
	must(err)
	if !w.Ignore {
		os.Exit(0)
	}
}

func (w worker) inspect() {
	var open []string
	entries, err := os.ReadDir("/proc/self/fd")
	must(err)
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil {
			open = append(open, target)
		}
	}
	must(os.WriteFile(w.file("files"), []byte(strings.Join(open, "\n")), 0o600))
	status, err := os.ReadFile("/proc/self/status")
	must(err)
	must(os.WriteFile(w.file("status"), status, 0o600))
}

func echo() {
	var line string
	if _, err := fmt.Scanln(&line); err == nil {
		fmt.Printf("echo of %s\n", line)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// lastBeat returns when the named worker last worked, and its process, or zeros if it never did.
func lastBeat(dir, name string) (at guard.Instant, pid int) {
	entry, err := os.ReadFile(worker{Dir: dir, Name: name}.file("beat"))
	if err != nil || len(entry) != 16 {
		return 0, 0
	}
	return guard.Instant(binary.NativeEndian.Uint64(entry)), int(binary.NativeEndian.Uint64(entry[8:]))
}

// noted is a signal that a worker got.
type noted struct {
	sig syscall.Signal
	at  guard.Instant
}

func notedSignals(t *testing.T, dir, name string) (all []noted) {
	t.Helper()
	text, err := os.ReadFile(worker{Dir: dir, Name: name}.file("signals"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n noted
		if _, err := fmt.Sscan(line, &n.sig, &n.at); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}
