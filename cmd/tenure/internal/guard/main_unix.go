//go:build unix

package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// mainCalled says that this program, started once more, can be a guard.
var mainCalled bool

// Main is to be called first thing in main. In a process that [Start] has started as a guard it does a guard's work
// and never returns; in any other it returns at once.
func Main() {
	mainCalled = true
	if len(os.Args) < 2 || os.Args[1] != argument {
		return
	}
	if err := serve(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// serve does the work of a guard process.
func serve(command []string) error {
	orders, err := ownPipe(ordersFD)
	if err != nil {
		return err
	}
	reports, err := ownPipe(reportsFD)
	if err != nil {
		return err
	}
	syscall.CloseOnExec(lockFD) // that the lock is open is all that matters about it
	surviveSignals()
	runtime.GOMAXPROCS(1)
	return watchOver(command, orders, &pipe{reports})
}

// watchOver starts the command only on the word of a supervisor that is still there.
func watchOver(command []string, orders *os.File, reports *pipe) error {
	decoder := json.NewDecoder(orders)
	var begin order
	if err := decoder.Decode(&begin); err != nil || begin.Kind != orderBegin {
		return nil //nolint:nilerr // a supervisor that is gone, or has nothing to begin, is no failure of the guard
	}
	options := Options{
		Command: command, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signal: begin.Signal, Deadlines: begin.Deadlines, NoCgroup: begin.NoCgroup,
	}
	report := func(r report) { _ = reports.put(r) } // a supervisor that is gone needs none
	w, err := newWard(options, receive[order](decoder), report)
	if err != nil {
		report(failure(err))
		return err
	}
	if !hungUp(orders) {
		w.start(options)
	}
	w.run()
	return nil
}

// ownPipe returns an inherited end of a pipe, which the command does not inherit in turn.
func ownPipe(fd int) (*os.File, error) {
	var status unix.Stat_t
	if err := unix.Fstat(fd, &status); err != nil || status.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil, fmt.Errorf("guard: %q is for internal use: only tenure itself starts a guard", argument)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("guard: use the supervisor's pipe: %w", err)
	}
	return os.NewFile(uintptr(fd), "pipe"), nil
}

// surviveSignals keeps the guard alive through signals that ask a process to end: the supervisor decides about that.
// They are caught rather than ignored, because the command would inherit that they are ignored. For the same reason
// those that were ignored already, as under nohup, stay so.
func surviveSignals() {
	caught := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if !signal.Ignored(sig) {
			signal.Notify(caught, sig)
		}
	}
}

// hungUp reports whether the other end of a pipe is closed, whatever was written before.
func hungUp(file *os.File) bool {
	conn, err := file.SyscallConn()
	if err != nil {
		return true
	}
	closed := true
	_ = conn.Control(func(fd uintptr) {
		state := []unix.PollFd{{Fd: int32(fd)}} // a hang-up is always reported
		err := ignoreEINTR(func() error {
			_, err := unix.Poll(state, 0)
			return err
		})
		closed = err != nil || state[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
	})
	return closed
}

func ignoreEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
