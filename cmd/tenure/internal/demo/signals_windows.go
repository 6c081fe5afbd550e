package demo

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// canFreeze tells whether processes can be frozen here.
const canFreeze = false

func freeze(*os.Process) error { return errors.ErrUnsupported }

func thaw(*os.Process) error { return errors.ErrUnsupported }

// outliveDemo has nothing to do: no signal comes of a demo that has died.
func outliveDemo() {}

// setApart puts a node into a process group of its own: the console's Ctrl-C is for the demo alone, which then stops
// the nodes.
func setApart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}
