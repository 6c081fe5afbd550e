//go:build unix && !linux

package guard

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// recheck is how often to look for the end of a group whose command has exited: its orphans are not children of this
// process, so their death is not reported.
const recheck = 20 * time.Millisecond

// group is the command and the process group that it leads. What leaves the process group is not found.
type group struct {
	leader  int // the command, and its process group; 0 until it runs
	cell    *cgroup
	changes chan os.Signal // a child changed its state
	ended   *Exit
}

func newGroup(Options) (*group, error) {
	g := &group{changes: make(chan os.Signal, 1)}
	signal.Notify(g.changes, syscall.SIGCHLD)
	return g, nil
}

// spawn starts the command. It may run beside the other methods.
func (g *group) spawn(options Options) (pid int, err error) {
	path, err := exec.LookPath(options.Command[0])
	if err != nil {
		return 0, err
	}
	process, err := os.StartProcess(path, options.Command, &os.ProcAttr{
		Files: []*os.File{options.Stdin, options.Stdout, options.Stderr},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return 0, err
	}
	pid = process.Pid
	return pid, process.Release()
}

// signal sends a signal to the process group.
func (g *group) signal(sig syscall.Signal) { signalGroup(g.leader, sig) }

// stop asks the process group to stop. A stopped process is continued, or it could not act on the signal.
func (g *group) stop(sig syscall.Signal) { stopBelow(0, g.leader, sig) }

func stopBelow(_, leader int, sig syscall.Signal) {
	signalGroup(leader, sig)
	signalGroup(leader, syscall.SIGCONT)
}

func (g *group) kill() { killBelow(0, g.leader, "") }

func killBelow(_, leader int, _ string) { signalGroup(leader, syscall.SIGKILL) }

// reap buries the command, whose zombie would count as a member of the group.
func (g *group) reap() {
	if g.leader == 0 || g.ended != nil {
		return
	}
	var status unix.WaitStatus
	var pid int
	err := ignoreEINTR(func() (err error) {
		pid, err = unix.Wait4(g.leader, &status, unix.WNOHANG, nil)
		return err
	})
	if err == nil && pid == g.leader {
		g.ended = exitOf(status)
	}
}

func exitOf(status unix.WaitStatus) *Exit {
	if status.Signaled() {
		return &Exit{Code: -1, Signal: status.Signal()}
	}
	return &Exit{Code: status.ExitStatus()}
}

// exit returns how the command ended, once it has.
func (g *group) exit() (exit Exit, exited bool) {
	if g.ended == nil {
		return Exit{}, false
	}
	return *g.ended, true
}

// empty reports whether the process group has no members.
func (g *group) empty() bool { return groupIsEmpty(g.leader) }

func (g *group) close() {}

// cgroup exists on Linux alone.
type cgroup struct{}

func (*cgroup) name() string { return "" }

func endCgroup(string) {}

// adoptOrphans does nothing: orphans go to the init process.
func adoptOrphans() error { return nil }

func ownExecutable() (string, error) { return os.Executable() }

// buryCommand has nothing to do: the guard process has done it.
func buryCommand(int) {}

// endOrphans kills the process group of a dead guard until nothing is left of it. How the command ended is for the
// init process to know.
func endOrphans(leader int) (exit Exit, known bool) {
	for pause := firstPause; leader != 0 && !groupIsEmpty(leader); pause = min(2*pause, lastPause) {
		signalGroup(leader, syscall.SIGKILL)
		time.Sleep(pause)
	}
	return Exit{}, false
}

func groupIsEmpty(leader int) bool { return syscall.Kill(-leader, 0) == syscall.ESRCH }
