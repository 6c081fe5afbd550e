package guard

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// recheck is how often to look for the end of a group whose command has exited; never, where the system tells.
const recheck time.Duration = 0

// group is the command and everything that comes of it: the process group that it leads, its cgroup if there is one,
// and, since this process adopts its orphans, every descendant of this process.
//
// The command is not reaped here: as long as its zombie stays, its number can be given to no other group, and kills
// sent to the number reach nobody else. The supervisor inherits the zombie and reaps it.
type group struct {
	leader  int // the command, and its process group; 0 until it runs
	cell    *cgroup
	changes chan os.Signal // a child changed its state
}

// newGroup makes this process the reaper of everything below it.
func newGroup(options Options) (*group, error) {
	if err := adoptOrphans(); err != nil {
		return nil, err
	}
	g := &group{changes: make(chan os.Signal, 1)}
	if !options.NoCgroup {
		g.cell = newCgroup()
	}
	signal.Notify(g.changes, syscall.SIGCHLD)
	return g, nil
}

// spawn starts the command. It may run beside the other methods.
func (g *group) spawn(options Options) (pid int, err error) {
	path, err := exec.LookPath(options.Command[0])
	if err != nil {
		return 0, err
	}
	outcome := make(chan started)
	go func() {
		// The parent-death signal comes with the death of the thread that forked, not of the process.
		// So this one must last.
		runtime.LockOSThread()
		pid, err := g.fork(path, options)
		outcome <- started{pid, err}
		select {}
	}()
	result := <-outcome
	return result.pid, result.err
}

func (g *group) fork(path string, options Options) (pid int, err error) {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if g.cell != nil {
		attributes.UseCgroupFD, attributes.CgroupFD = true, int(g.cell.dir.Fd())
		if pid, err = forkExec(path, options, attributes); err == nil {
			return pid, nil
		}
		// The kernel or the rights may forbid to be born there, and the error does not tell that from a program
		// that cannot be executed.
		attributes.UseCgroupFD = false
	}
	return forkExec(path, options, attributes)
}

func forkExec(path string, options Options, attributes *syscall.SysProcAttr) (pid int, err error) {
	process, err := os.StartProcess(path, options.Command, &os.ProcAttr{
		Files: []*os.File{options.Stdin, options.Stdout, options.Stderr},
		Sys:   attributes,
	})
	if err != nil {
		return 0, err
	}
	pid = process.Pid
	return pid, process.Release()
}

// signal sends a signal to the process group.
func (g *group) signal(sig syscall.Signal) { signalGroup(g.leader, sig) }

// stop asks the process group and what has left it to stop. A stopped process is continued, or it could not act on
// the signal.
func (g *group) stop(sig syscall.Signal) {
	stopBelow(os.Getpid(), g.leader, sig)
}

// stopBelow asks the process group of leader, and what descends from guard and has left the group, to stop.
func stopBelow(guard, leader int, sig syscall.Signal) {
	signalGroup(leader, sig)
	signalGroup(leader, syscall.SIGCONT)
	for _, p := range descendants(guard) {
		if p.group != leader {
			_ = syscall.Kill(p.pid, sig)
			_ = syscall.Kill(p.pid, syscall.SIGCONT)
		}
	}
}

// kill kills all that it finds. What escapes, as what forks outside the process group, and without a cgroup, can for
// a while, is left to the next call.
func (g *group) kill() { killBelow(os.Getpid(), g.leader, g.cell.name()) }

// killBelow kills the process group of leader, what is in the cgroup, and what descends from guard.
func killBelow(guard, leader int, cell string) {
	killCgroup(cell)
	signalGroup(leader, syscall.SIGKILL)
	for _, p := range descendants(guard) {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// reap buries adopted children, but never the command. Once that is dead too it stands before the others, and they
// are left to close.
func (g *group) reap() {
	for g.leader != 0 {
		pid, _ := peek(unix.P_ALL, 0)
		if pid == 0 || pid == g.leader {
			return
		}
		bury(pid)
	}
}

// exit returns how the command ended, once it has.
func (g *group) exit() (exit Exit, exited bool) {
	pid, exit := peek(unix.P_PID, g.leader)
	return exit, pid != 0
}

// empty reports whether nothing of the group lives. The kernel knows: a wait that is for living children alone fails
// if there are none, and orphans become children of this process before their parents are dead.
func (g *group) empty() bool {
	var info unix.Siginfo
	err := ignoreEINTR(func() error {
		return unix.Waitid(unix.P_ALL, 0, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	})
	return errors.Is(err, unix.ECHILD)
}

// close clears away what is left of a group that is empty.
func (g *group) close() {
	for _, p := range descendants(os.Getpid()) {
		if p.pid != g.leader {
			bury(p.pid)
		}
	}
	g.cell.end()
}

// peek returns a dead child that was not buried yet and how it ended, or 0.
func peek(idType, id int) (pid int, exit Exit) {
	var info unix.Siginfo
	err := ignoreEINTR(func() error {
		return unix.Waitid(idType, id, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	})
	if err != nil {
		return 0, Exit{}
	}
	child := (*childInfo)(unsafe.Pointer(&info))
	const exited = 1 // CLD_EXITED; the others are deaths by a signal
	if info.Code == exited {
		return int(child.pid), Exit{Code: int(child.status)}
	}
	return int(child.pid), Exit{Code: -1, Signal: syscall.Signal(child.status)}
}

// childInfo is the beginning of unix.Siginfo as the kernel fills it in for a child.
type childInfo struct {
	_      [3]int32
	_      [0]uintptr // what follows is aligned like a pointer
	pid    int32
	uid    uint32
	status int32
}

// bury removes a dead child from the process table.
func bury(pid int) {
	_ = ignoreEINTR(func() error {
		_, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		return err
	})
}
