//go:build !linux

package testserver

import (
	"errors"
	"os"
	"syscall"
)

// Elsewhere than on Linux servers run as the test's user, and cannot be frozen with their children.

var errFreeze = errors.New("freezing a server with its children works on Linux only")

func attributes(bool) *syscall.SysProcAttr { return nil }

func lockThread() {}

func freezeTree(int) error { return errFreeze }

func thawTree(int) error { return errFreeze }

func killTree(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}
