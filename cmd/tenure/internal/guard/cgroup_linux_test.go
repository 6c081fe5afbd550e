package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestCgroupPath(t *testing.T) {
	const (
		unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid  = "32 31 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n" +
			"41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n"
		container = "812 811 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	)
	tests := map[string]struct{ membership, mounts, want string }{
		"systemd":                     {"0::/user.slice/a.scope\n", unified, "/sys/fs/cgroup/user.slice/a.scope"},
		"root":                        {"0::/\n", unified, "/sys/fs/cgroup"},
		"hybrid":                      {"4:memory:/m\n0::/x\n", hybrid, "/sys/fs/cgroup/unified/x"},
		"part of the tree is mounted": {"0::/docker/abc/job\n", container, "/sys/fs/cgroup/job"},
		"another part is mounted":     {"0::/docker/other\n", container, ""},
		"outside of the namespace":    {"0::/../other\n", unified, ""},
		"version 1 alone":             {"4:memory:/m\n", hybrid, ""},
		"not mounted":                 {"0::/x\n", "", ""},
		"a line that is cut off":      {"0::/x\n", "41 31 - cgroup2 cgroup2 rw\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := cgroupPath(test.membership, test.mounts)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("path %q, error %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestOnlyOwnCgroupsAreTaken(t *testing.T) {
	for name, want := range map[string]bool{
		"tenure-guard-ABCDEFGHIJKLMNOPQRSTUVWX27":  true,
		"tenure-guard-web.service":                 false,
		"tenure-guard":                             false,
		"xtenure-guard-ABCDEFGHIJKLMNOPQRSTUVWX27": false,
	} {
		if cellName.MatchString(name) != want {
			t.Errorf("%q is taken for a guard's cgroup: %v", name, !want)
		}
	}
}

// A cgroup is killed whatever user IDs the processes in it have taken on.
func TestKillCgroupOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can have processes of another user")
	}
	cell := newCgroup()
	if cell == nil {
		t.Skip("the tests may not make cgroups here")
	}
	defer cell.end()
	command := exec.Command("/bin/sleep", "60")
	command.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(cell.dir.Fd())}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	const somebody = 65534
	if err := os.Chown(filepath.Join(cell.path, "cgroup.kill"), somebody, somebody); err != nil {
		t.Fatal(err)
	}
	as(t, somebody, func() {
		if err := syscall.Kill(command.Process.Pid, syscall.SIGKILL); err != syscall.EPERM {
			t.Errorf("killing a process of another user: %v", err)
		}
		killCgroup(cell.path)
	})
	timer := time.AfterFunc(time.Minute, func() {
		t.Error("the process lives")
		_ = command.Process.Kill()
	})
	_ = command.Wait()
	timer.Stop()
}

// as runs a function with the rights of another user.
func as(t *testing.T, user uintptr, run func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for ever: the thread, whose user alone is changed, ends with the goroutine
		if _, _, err := syscall.RawSyscall(unix.SYS_SETRESUID, user, user, user); err != 0 {
			t.Error(err)
			return
		}
		run()
	}()
	<-done
}
