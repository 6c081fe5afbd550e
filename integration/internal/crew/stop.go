//go:build linux

package crew

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Halt stops a process with SIGSTOP, and returns when none of its threads runs any more.
func Halt(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
		if len(threads) > 0 && !slices.ContainsFunc(threads, runs) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not stop", pid)
}

// Continue lets a stopped process go on. One that is dead meanwhile stays so.
func Continue(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("continue process %d: %w", pid, err)
	}
	return nil
}

// runs tells of a thread's stat file whether it may still do something.
func runs(stat string) bool {
	text, err := os.ReadFile(stat)
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.ContainsAny(state[:min(1, len(state))], "TtZX")
}

// Command returns the process that tenure runs, 0 if it runs none.
func (c *Candidate) Command() int {
	self, err := os.Readlink("/proc/self/exe")
	if pid := c.PID(); err == nil && pid != 0 && c.Supervised {
		return commandUnder(pid, self)
	}
	return 0
}

// KillCommand ends the process that tenure runs as no handler can prevent, and leaves its supervisor and their guard
// alone. It returns once no thread of it runs any more, and 0 if there was none.
func (c *Candidate) KillCommand() (pid int, err error) {
	if pid = c.Command(); pid == 0 {
		return 0, nil
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("kill process %d: %w", pid, err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat"); !slices.ContainsFunc(threads, runs) {
			return pid, nil
		}
	}
	return pid, fmt.Errorf("process %d does not end", pid)
}

func commandUnder(pid int, program string) int {
	for _, child := range children(pid) {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", child)); err == nil && exe == program {
			return child
		}
		if found := commandUnder(child, program); found != 0 {
			return found
		}
	}
	return 0
}

func children(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
