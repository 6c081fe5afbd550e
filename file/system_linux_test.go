package file

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// asNobody runs f with the rights on files of a user who owns nothing. Only the superuser can, and only for one thread,
// which is not used again.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs the rights to take on another user's")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		const nobody = 65534
		_ = syscall.Setfsgid(nobody)
		_ = syscall.Setfsuid(nobody)
		f()
	}()
	<-done
}
