//go:build unix && !linux

package file

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

func asNobody(t *testing.T, _ func()) {
	t.Helper()
	t.Skip("one thread cannot take on the rights of another user here")
}

// raiseHere sends a signal to the process, and gives it time to arrive: another of the process's threads may take it up.
func raiseHere(sig syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), sig)
	time.Sleep(100 * time.Millisecond)
}
