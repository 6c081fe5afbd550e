package guard_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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

// loose is the file that tells of a runaway whose parent has gone.
func (r runaway) loose() string { return filepath.Join(r.Dir, "loose") }

// outran is the file that tells of a runaway which was not stopped.
func (r runaway) outran() string { return filepath.Join(r.Dir, "outran") }

func runAway(config string) {
	var r runaway
	must(json.Unmarshal([]byte(config), &r))
	loose, err := syscall.BytePtrFromString(r.loose())
	must(err)
	outran, err := syscall.BytePtrFromString(r.outran())
	must(err)
	run(loose, outran)
}

// run does nothing but system calls: after a bare fork Go's runtime is not to be relied on.
func run(loose, outran *byte) {
	const generations = 8_000 // so that what a stuck guard leaves unburied does not fill the system's process table
	told := false
	for range generations {
		parent, _, _ := syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
		child, _, _ := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
		if child != 0 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		if now, _, _ := syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0); now != parent && !told {
			told = true
			create(loose)
		}
	}
	create(outran)
	syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
}

func create(path *byte) {
	at := unix.AT_FDCWD
	fd, _, _ := syscall.RawSyscall6(
		syscall.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(path)), syscall.O_CREAT|syscall.O_WRONLY, 0o600, 0, 0)
	syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
}

// Processes that are born while others are killed do not escape.
func TestRunaway(t *testing.T) {
	inAndOutOfCgroups(t, func(t *testing.T, noCgroup bool) {
		// On a busy machine they may end by themselves before they are struck, and a guard that is kept from its
		// work for seconds is killed as well, with all that it leaves.
		const chances = 10
		var err error
		for range chances {
			if err = catchRunaway(t, noCgroup); err == nil {
				return
			}
		}
		t.Error(err)
	})
}

// catchRunaway has a guard kill processes on the run. The error is nil if it did so, and without help.
func catchRunaway(t *testing.T, noCgroup bool) error {
	t.Helper()
	r := runaway{Dir: workDir(t)}
	options := shell(`for i in 1 2 3; do "$0" "$@" & done; exec sleep 60`)
	options.Command = append(options.Command, executable(t))
	options.Command = append(options.Command, r.command()[1:]...)
	options.NoCgroup = noCgroup
	g, err := guard.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is on the run", func() bool { return exists(r.loose()) })
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err = g.Wait()
	if err != nil && !errors.Is(err, guard.ErrLost) {
		t.Fatal(err)
	}
	if exists(r.outran()) {
		err = errors.Join(err, errors.New("it ran until it ended by itself"))
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
