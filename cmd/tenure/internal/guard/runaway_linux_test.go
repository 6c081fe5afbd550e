package guard_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

const runawayRole = "guard-test-runaway"

func init() { roles[runawayRole] = runAway }

// runaway describes a process that forks, gives its child a session of its own and exits, over and over, as fast as
// the system can. If nobody stops it, it ends after a while and says so.
type runaway struct{ Dir string }

func (r runaway) command() []string {
	config, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return []string{"/proc/self/exe", runawayRole, string(config)}
}

// outran is the file that tells of a runaway which was not stopped.
func (r runaway) outran() string { return filepath.Join(r.Dir, "outran") }

func runAway(config string) {
	var r runaway
	must(json.Unmarshal([]byte(config), &r))
	outran, err := syscall.BytePtrFromString(r.outran())
	must(err)
	run(outran)
}

// run does nothing but system calls: after a bare fork Go's runtime is not to be relied on.
func run(outran *byte) {
	const generations = 50_000
	for range generations {
		child, _, _ := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
		if child != 0 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	}
	at, path := unix.AT_FDCWD, uintptr(unsafe.Pointer(outran))
	syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(at), path, syscall.O_CREAT|syscall.O_WRONLY, 0o600, 0, 0)
	syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
}

// Processes that are born while others are killed do not escape.
func TestRunaway(t *testing.T) {
	inAndOutOfCgroups(t, func(t *testing.T, noCgroup bool) {
		dir := workDir(t)
		r := runaway{Dir: dir}
		options := shell(`for i in 1 2 3 4 5; do "$0" "$@" & done; exec sleep 60`)
		options.Command = append(options.Command, executable(t))
		options.Command = append(options.Command, r.command()[1:]...)
		options.NoCgroup = noCgroup
		g, err := guard.Start(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		process := parentOf(g.PID())
		eventually(t, "it is on the run", func() bool { return onTheRun(dir, process) })
		if err := g.Kill(); err != nil {
			t.Fatal(err)
		}
		// A guard that a busy machine keeps from its work for seconds is killed as well.
		if _, err := g.Wait(); err != nil && !errors.Is(err, guard.ErrLost) {
			t.Error(err)
		}
		if _, err := os.Stat(r.outran()); err == nil {
			t.Error("it ran until it ended by itself")
		}
	})
}

// onTheRun reports whether the runaway has lost its parent to the guard process.
func onTheRun(dir string, guard int) bool {
	return slices.ContainsFunc(living(dir), func(r row) bool {
		return r.parent == guard && strings.Contains(r.arguments, "\x00"+runawayRole+"\x00") &&
			!strings.HasPrefix(r.arguments, "/bin/sh")
	})
}
