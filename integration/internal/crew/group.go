//go:build linux

package crew

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Group is a control group of one candidate, as far as this system lets us make one. A nil Group holds nobody.
type Group struct {
	// freezer is a group of version 2, which can be frozen; empty if there is none.
	freezer string
	// cpu is a group that can be kept from the processor, of version 2 if it is the freezer, else of version 1.
	cpu string
}

// NewGroup makes a group with that name.
func NewGroup(name string) *Group {
	g := &Group{}
	unified, cpu := hierarchies()
	if dir := made(unified, name); dir != "" && exists(dir, "cgroup.freeze") {
		g.freezer = dir
		if exists(dir, "cpu.max") {
			g.cpu = dir
		}
	}
	if dir := made(cpu, name); g.cpu == "" && dir != "" && exists(dir, "cpu.cfs_quota_us") {
		g.cpu = dir
	}
	return g
}

// hierarchies returns where version 2 is mounted, and the processor's controller of version 1, empty if they are not.
func hierarchies() (unified, cpu string) {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return "", ""
	}
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		switch {
		case len(f) < 4:
		case f[2] == "cgroup2":
			unified = f[1]
		case f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",cpu,"):
			cpu = f[1]
		}
	}
	return unified, cpu
}

func made(root, name string) string {
	if root == "" {
		return ""
	}
	dir := filepath.Join(root, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return ""
	}
	return dir
}

func exists(dir, file string) bool {
	_, err := os.Stat(filepath.Join(dir, file))
	return err == nil
}

// Freezes and Starves report what the group can do.
func (g *Group) Freezes() bool { return g != nil && g.freezer != "" }

// Starves reports whether the group can be kept from the processor.
func (g *Group) Starves() bool { return g != nil && g.cpu != "" }

func (g *Group) add(pid int) error {
	var errs []error
	for _, dir := range []string{g.freezer, g.cpu} {
		if dir != "" {
			errs = append(errs, write(dir, "cgroup.procs", strconv.Itoa(pid)))
		}
	}
	return errors.Join(errs...)
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}

// Freeze stops everything in the group, and returns when it has stopped.
func (g *Group) Freeze() error {
	if err := write(g.freezer, "cgroup.freeze", "1"); err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(g.freezer, "cgroup.events"))
		if err != nil {
			return err
		}
		if strings.Contains(string(text), "frozen 1") {
			return nil
		}
	}
	return fmt.Errorf("%s does not freeze", g.freezer)
}

// Thaw lets it go on.
func (g *Group) Thaw() error { return write(g.freezer, "cgroup.freeze", "0") }

// period is that of the processor's share in microseconds: the longest, so that a small share comes in few pieces.
const period = 1_000_000

// Starve leaves the group that part of one processor; 0 lifts the limit.
func (g *Group) Starve(share float64) error {
	quota := strconv.Itoa(int(share * period))
	if g.cpu == g.freezer {
		if share == 0 {
			quota = "max"
		}
		return write(g.cpu, "cpu.max", fmt.Sprintf("%s %d", quota, period))
	}
	if share == 0 {
		quota = "-1"
	}
	return errors.Join(write(g.cpu, "cpu.cfs_period_us", strconv.Itoa(period)), write(g.cpu, "cpu.cfs_quota_us", quota))
}

// Throttled returns how often the group was kept from the processor.
func (g *Group) Throttled() int {
	text, err := os.ReadFile(filepath.Join(g.cpu, "cpu.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if count, ok := strings.CutPrefix(strings.TrimSpace(line), "nr_throttled "); ok {
			n, _ := strconv.Atoi(count)
			return n
		}
	}
	return 0
}

// Remove removes the group, whose processes have ended, and those that they have made below it.
func (g *Group) Remove() {
	for _, dir := range []string{g.freezer, g.cpu} {
		if dir == "" {
			continue
		}
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if removed(dir) {
				break
			}
		}
	}
}

func removed(dir string) bool {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			removed(filepath.Join(dir, e.Name()))
		}
	}
	err := os.Remove(dir)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}
