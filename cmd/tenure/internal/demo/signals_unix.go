//go:build unix

package demo

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// canFreeze tells whether processes can be frozen here.
const canFreeze = true

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// outliveDemo keeps a node alive when the demo has died, since it still has to clear up. Then the pipe for its reports
// is broken, and if it was frozen the kernel sends it SIGHUP too, as to every stopped process that lost its session.
func outliveDemo() { signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE) }

// setApart puts a node into a process group of its own: the terminal's Ctrl-C is for the demo alone, which then stops
// the nodes.
func setApart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	wakeOnDeath(cmd.SysProcAttr)
}
