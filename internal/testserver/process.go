package testserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// patience bounds how long a server may take to start or to stop on a busy machine.
const patience = 3 * time.Minute

// Command says how a server is run.
type Command struct {
	// Program is its path, from [Find].
	Program string
	Args    []string
	// Env is added to the environment of the test.
	Env []string
	// Unprivileged runs it as the user nobody if the test runs as root: some servers refuse root.
	Unprivileged bool
	// Ready returns nil once the server answers. It is asked again and again, each time with a context of a second.
	Ready func(ctx context.Context) error
	// Quit is the signal for an orderly end; SIGTERM if nil.
	Quit os.Signal
}

// Process is a running server. Its methods are for one goroutine at a time; all but Start and Run stop the test on an
// error. What the test leaves running ends with it.
type Process struct {
	tb      TB
	command Command
	log     string // path of what it printed

	mu     sync.Mutex
	cmd    *exec.Cmd // nil while it does not run
	ended  chan struct{}
	frozen bool
}

// Start runs a server and returns once it is ready. If it is not ready in time, the test stops with what it printed.
func Start(tb TB, command Command) *Process {
	tb.Helper()
	p := &Process{tb: tb, command: command, log: filepath.Join(Dir(tb), "log")}
	tb.Cleanup(p.cleanUp)
	p.Start()
	return p
}

// Start starts the server again after Stop or Kill, with the same arguments, and returns once it is ready.
func (p *Process) Start() {
	p.tb.Helper()
	if err := p.launch(); err != nil {
		p.tb.Fatalf("start %s: %v", p.name(), err)
	}
	if err := p.awaitReady(); err != nil {
		p.tb.Fatalf("%s is not ready: %v\n%s", p.name(), err, p.Log())
	}
}

// PID returns the process ID, 0 while it does not run.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Log returns the last part of what the server printed.
func (p *Process) Log() string {
	const most = 8 << 10
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// Stop ends the server in good order, and returns once it has ended.
func (p *Process) Stop() {
	p.tb.Helper()
	quit := p.command.Quit
	if quit == nil {
		quit = syscall.SIGTERM
	}
	p.Thaw()
	if err := p.end(func(pid *os.Process) error { return pid.Signal(quit) }); err != nil {
		p.tb.Fatalf("stop %s: %v\n%s", p.name(), err, p.Log())
	}
}

// Kill ends the server and all its children at once, as a loss of power would, though what it gave to the kernel stays.
func (p *Process) Kill() {
	p.tb.Helper()
	if err := p.kill(); err != nil {
		p.tb.Fatalf("kill %s: %v", p.name(), err)
	}
}

// Restart is Stop and Start.
func (p *Process) Restart() {
	p.tb.Helper()
	p.Stop()
	p.Start()
}

// Freeze stops the server and its children where they are: connections stay open, and nothing is answered.
func (p *Process) Freeze() {
	p.tb.Helper()
	p.setFrozen(true, freezeTree)
}

// Thaw lets a frozen server go on.
func (p *Process) Thaw() {
	p.tb.Helper()
	p.setFrozen(false, thawTree)
}

func (p *Process) setFrozen(frozen bool, do func(pid int) error) {
	p.tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.frozen == frozen {
		return
	}
	p.frozen = frozen
	if err := do(p.cmd.Process.Pid); err != nil {
		p.tb.Fatalf("freeze or thaw %s: %v", p.name(), err)
	}
}

// signal tells a server that runs something.
func (p *Process) signal(sig os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return os.ErrProcessDone
	}
	return p.cmd.Process.Signal(sig)
}

func (p *Process) name() string { return filepath.Base(p.command.Program) }

// launch starts the process from a thread that lives as long as it does: the signal that ends it when the test dies is
// tied to the thread that forked it.
func (p *Process) launch() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := exec.Command(p.command.Program, p.command.Args...)
	cmd.Env = append(os.Environ(), p.command.Env...)
	cmd.Dir = filepath.Dir(p.log)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = attributes(p.command.Unprivileged)
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		defer out.Close()
		lockThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.ended, p.frozen = cmd, ended, false
	return nil
}

func (p *Process) awaitReady() error {
	if p.command.Ready == nil {
		return nil
	}
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = p.command.Ready(ctx)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended; the last answer: %w", err)
		case <-time.After(5 * time.Millisecond): // nothing tells when a foreign server is ready
		}
	}
	return err
}

// end does something that ends the process, and waits until it has ended.
func (p *Process) end(do func(*os.Process) error) error {
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.cmd = nil
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if err := do(cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-time.After(patience):
		_ = killTree(cmd.Process.Pid)
		<-ended
		return fmt.Errorf("it did not end within %v and was killed", patience)
	}
}

func (p *Process) kill() error {
	return p.end(func(process *os.Process) error { return killTree(process.Pid) })
}

func (p *Process) cleanUp() {
	if p.tb.Failed() {
		p.tb.Logf("%s printed:\n%s", p.name(), p.Log())
	}
	_ = p.kill()
}

// Run runs a program that ends by itself, such as one that prepares a data directory, and returns what it printed.
func Run(tb TB, command Command) string {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	runtime.LockOSThread() // or another goroutine may end the thread, and with it what was started from there
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, command.Program, command.Args...)
	cmd.Env = append(os.Environ(), command.Env...)
	cmd.Dir = os.TempDir()
	cmd.SysProcAttr = attributes(command.Unprivileged)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s: %v\n%s", filepath.Base(command.Program), err, out)
	}
	return string(out)
}

// Dir returns an empty directory in which servers may write whatever user they run as. It is removed after the test.
// Its path is short enough for Unix sockets.
func Dir(tb TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "tenure-")
	if err == nil {
		err = os.Chmod(dir, 0o777) // the test's own temporary directory is closed to other users
	}
	if err != nil {
		tb.Fatalf("make a directory for a server: %v", err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Logf("remove %s: %v", dir, err)
		}
	})
	return dir
}

// Port returns a free TCP port on the loopback interface, which neither this process nor another one that uses this
// package draws again while this one lives. It lies where the system does not put outgoing connections.
func Port(tb TB) int {
	tb.Helper()
	port, err := freePort()
	if err != nil {
		tb.Fatalf("find a free port: %v", err)
	}
	return port
}

// Addr returns the loopback address of a port.
func Addr(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// Dial is a Ready for servers that are so as soon as they accept a connection.
func Dial(addr string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
}
