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

// raiseHere sends a signal to the thread that calls, which acts on it before it does anything else. A signal to the
// process could be left to another thread, while this one goes on.
func raiseHere(sig syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.Syscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(sig))
}
