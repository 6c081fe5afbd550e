package guard

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of all orphans among its descendants.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("guard: become the reaper of orphaned processes: %w", err)
	}
	return nil
}

// ownExecutable returns the path of the program that runs here, even if its file has been replaced since.
func ownExecutable() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// buryCommand removes a command that its guard has seen die from the process table: this process has inherited it.
func buryCommand(leader int) {
	if leader != 0 {
		bury(leader)
	}
}

// endOrphans kills and buries what a dead guard has left to this process, until nothing is left. It returns how the
// command ended, if it was among them.
func endOrphans(leader int) (exit Exit, known bool) {
	const certain = 2 // a process that forks and dies while the table is read can be missed once
	pause := firstPause
	for clean := 0; clean < certain; clean++ {
		for _, p := range orphans() {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
			if pid, end := peek(unix.P_PID, p.pid); pid == leader {
				exit, known = end, true
			}
			bury(p.pid)
			clean = -1
		}
		if clean < 0 {
			time.Sleep(pause)
			pause = min(2*pause, lastPause)
		}
	}
	return exit, known
}

// orphans returns what dead guards have left to this process. Every guard has a session of its own, which nothing
// below it can leave for that of this process.
func orphans() []process {
	guards.Lock()
	defer guards.Unlock()
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	return below(processes(), func(p process) bool {
		return p.parent == os.Getpid() && p.session != session && !guards.pids[p.pid]
	})
}
