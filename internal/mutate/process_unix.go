//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// limited has a shell set the limits, which then becomes the program. A system that does not know one goes without.
func limited(l limits, name string, args []string) (shell string, all []string) {
	if l.unbounded {
		return name, args
	}
	script := fmt.Sprintf("ulimit -v %d 2>/dev/null; ", mostMemory)
	if l.cpu > 0 {
		script += fmt.Sprintf("ulimit -t %d 2>/dev/null; ", l.seconds())
	}
	return "sh", append([]string{"-c", script + `exec "$0" "$@"`, name}, args...)
}

// seconds is the processor time in whole seconds, rounded up: who is stopped by it has used no less than cpu.
func (l limits) seconds() int64 { return int64((l.cpu + time.Second - 1) / time.Second) }

// alone puts a process into a group of its own: an interrupt from the keyboard must not look as if it had failed by
// itself, and its children have to end with it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
