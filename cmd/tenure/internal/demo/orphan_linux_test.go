package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A node that is frozen when the demo is killed cannot know. Who inherits it decides whether the kernel wakes it by
// itself: a process of the same session is expected to.
func TestFrozenNodeOfAKilledDemoClearsUp(t *testing.T) {
	for _, test := range []struct {
		name    string
		session bool // the demo has a session of its own
	}{
		{"inherited in its session", false},
		{"inherited by another session", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "store")
			demo := exec.Command(os.Args[0], demoArgument, dir)
			demo.SysProcAttr = &syscall.SysProcAttr{Setsid: test.session}
			if err := demo.Start(); err != nil {
				t.Fatal(err)
			}
			node := frozenChild(t, demo.Process.Pid)
			if err := demo.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = demo.Wait() // it was killed
			soon(t, "the node ends", func() bool {
				pid, err := unix.Wait4(node, nil, unix.WNOHANG, nil)
				return pid == node || errors.Is(err, unix.ECHILD)
			})
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the store is still there: %v", err)
			}
		})
	}
}

// frozenChild waits for a child of a process that is frozen.
func frozenChild(t *testing.T, parent int) (child int) {
	t.Helper()
	soon(t, "a node is frozen", func() bool {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			if _, err := fmt.Sscan(string(text), &child); err == nil && stopped(child) {
				return true
			}
		}
		return false
	})
	return child
}

func stopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && strings.HasPrefix(state, "T")
}

// soon waits for what other processes do, which takes real time.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
