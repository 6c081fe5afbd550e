package guard

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cellName is what the cgroups of this package are called, so that no other is ever taken for one.
var cellName = regexp.MustCompile(`^tenure-guard-[A-Z2-7]{26}$`)

// cgroup is the cgroup in which the command runs, below that of this process. Its directory is locked as long as the
// guard lives, so that a later guard knows which ones nobody watches over. All methods do nothing with a nil cgroup.
type cgroup struct {
	path string
	dir  *os.File
}

// newCgroup makes a cgroup, or returns nil where that is impossible: no cgroup version 2, no right to make one, a
// kernel without cgroup.kill. It first kills what earlier guards left behind.
func newCgroup() *cgroup {
	parent, err := ownCgroup()
	if err != nil {
		return nil
	}
	killAbandoned(parent)
	path := filepath.Join(parent, "tenure-guard-"+rand.Text())
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil
	}
	cell, err := lockCgroup(path)
	if err == nil {
		err = unix.Access(filepath.Join(path, "cgroup.kill"), unix.W_OK)
	}
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	return cell
}

// ownCgroup returns the directory of the cgroup that this process is in.
func ownCgroup() (string, error) {
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	return cgroupPath(string(membership), string(mounts))
}

// cgroupPath finds the directory from the texts of /proc/self/cgroup and /proc/self/mountinfo.
func cgroupPath(membership, mounts string) (string, error) {
	const version2 = "0::"
	for line := range strings.Lines(membership) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), version2)
		if !ok {
			continue
		}
		for line := range strings.Lines(mounts) {
			if path, ok := pathInMount(name, line); ok {
				return path, nil
			}
		}
	}
	return "", errors.New("guard: no cgroup of version 2")
}

// pathInMount returns the directory of the named cgroup if line mounts a hierarchy of version 2 that shows it.
func pathInMount(name, line string) (string, bool) {
	const root, point = 3, 4
	left, right, _ := strings.Cut(line, " - ")
	fields := strings.Fields(left)
	if !strings.HasPrefix(right, "cgroup2 ") || len(fields) <= point {
		return "", false
	}
	below, err := filepath.Rel(fields[root], name)
	if err != nil || !filepath.IsLocal(below) || name != filepath.Clean(name) { // "/.." is outside of the namespace
		return "", false
	}
	return filepath.Join(fields[point], below), true
}

// lockCgroup opens the cgroup and marks it as one that somebody watches over. It fails if somebody else does.
func lockCgroup(path string) (*cgroup, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &cgroup{path: path, dir: dir}, nil
}

// killAbandoned kills what is in the cgroups below parent whose guards died.
func killAbandoned(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, entry := range entries {
		if !cellName.MatchString(entry.Name()) {
			continue
		}
		if cell, err := lockCgroup(filepath.Join(parent, entry.Name())); err == nil {
			cell.end()
		}
	}
}

// name returns the cgroup's directory.
func (c *cgroup) name() string {
	if c == nil {
		return ""
	}
	return c.path
}

// end kills what is left in the cgroup and removes it.
func (c *cgroup) end() {
	if c != nil {
		endCgroup(c.path)
		c.dir.Close()
	}
}

// killCgroup kills everything in a cgroup and below it, in one step that no fork escapes. What that step passes over,
// processes whose first thread has exited, is killed one by one. Without a path it does nothing.
func killCgroup(path string) {
	if path == "" {
		return
	}
	if file, err := os.OpenFile(filepath.Join(path, "cgroup.kill"), os.O_WRONLY, 0); err == nil {
		_, _ = file.WriteString("1")
		file.Close()
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			killMembers(path)
		}
		return nil
	})
}

func killMembers(path string) {
	text, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
	for line := range strings.Lines(string(text)) {
		// A member in a process namespace out of sight is shown as 0.
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// endCgroup kills what is in a cgroup and removes it. It does not wait for long: a killed process runs no more of its
// own code, even if the kernel cannot clear it away yet.
func endCgroup(path string) {
	const attempts = 50
	for range attempts {
		killCgroup(path)
		if !errors.Is(removeCgroup(path), syscall.EBUSY) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// removeCgroup removes a cgroup and those below it. Without a path it does nothing.
func removeCgroup(path string) error {
	if path == "" {
		return nil
	}
	entries, _ := os.ReadDir(path)
	for _, entry := range entries {
		if entry.IsDir() {
			_ = removeCgroup(filepath.Join(path, entry.Name()))
		}
	}
	return os.Remove(path)
}
