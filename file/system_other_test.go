//go:build unix && !linux

package file

import (
	"syscall"
	"testing"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

func asNobody(t *testing.T, _ func()) {
	t.Helper()
	t.Skip("one thread cannot take on the rights of another user here")
}
