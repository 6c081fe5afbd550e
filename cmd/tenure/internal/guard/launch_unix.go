//go:build unix

package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// argument is the first argument of a process that is a guard; the command follows.
const argument = "__guard"

// Descriptors of the guard process besides the standard ones. The lock's is open only if there is a lock.
const (
	ordersFD = 3 + iota
	reportsFD
	lockFD
)

// errNoMain: started once more, this program would be itself, and not a guard.
var errNoMain = errors.New("guard: the program does not call guard.Main, so it cannot be started as a guard")

// launch starts the guard process and the second line behind it. The reports end when nothing of the group is left.
func launch(options Options) (send func(order) error, reports <-chan report, err error) {
	if !mainCalled {
		return nil, nil, errNoMain
	}
	if err := adoptOrphans(); err != nil {
		return nil, nil, err
	}
	line, err := newSecondLine(options)
	if err != nil {
		return nil, nil, err
	}
	if err := line.begin(options); err != nil {
		line.alarm.close()
		return nil, nil, err
	}
	return line.send, line.reports, nil
}

// begin starts the guard process and gives it its first order.
func (l *secondLine) begin(options Options) error {
	path, err := ownExecutable()
	if err != nil {
		return fmt.Errorf("guard: find the own program: %w", err)
	}
	orders, ordersOut, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("guard: make a pipe: %w", err)
	}
	defer orders.Close()
	reportsIn, reports, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("guard: make a pipe: %w", err), ordersOut.Close())
	}
	defer reports.Close()
	l.process, l.orders, l.incoming = guardProcess(path, options, orders, reports), &pipe{ordersOut}, reportsIn
	if err := forkGuard(l.process); err != nil {
		return errors.Join(fmt.Errorf("guard: start the guard process: %w", err), ordersOut.Close(), reportsIn.Close())
	}
	go l.run(receive[report](json.NewDecoder(reportsIn)))
	// A guard that dies at once closes its end; the reports say so.
	_ = l.send(beginning(options))
	return nil
}

// guardProcess returns the guard process, in a session of its own: signals for the supervisor's process group, such
// as the terminal's, are not for the guard.
func guardProcess(path string, options Options, orders, reports *os.File) *exec.Cmd {
	process := &exec.Cmd{
		Path:        path,
		Args:        append([]string{os.Args[0], argument}, options.Command...),
		ExtraFiles:  []*os.File{orders, reports},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	options.outfit(process)
	if options.Lock != nil {
		process.ExtraFiles = append(process.ExtraFiles, options.Lock)
	}
	return process
}

// guards are the guard processes of this process, so that none is taken for an orphan.
var guards = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

func forkGuard(process *exec.Cmd) error {
	guards.Lock()
	defer guards.Unlock()
	if err := process.Start(); err != nil {
		return err
	}
	guards.pids[process.Process.Pid] = true
	return nil
}

// waitGuard waits for the death of the guard process.
func waitGuard(process *exec.Cmd) {
	_ = process.Wait()
	guards.Lock()
	defer guards.Unlock()
	delete(guards.pids, process.Process.Pid)
}
