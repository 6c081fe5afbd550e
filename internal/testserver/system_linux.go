package testserver

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// nobody is the user for servers that refuse to run as root; it is in every passwd, which some of them want.
const nobody = 65534

func attributes(unprivileged bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if unprivileged && os.Getuid() == 0 {
		a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return a
}

func lockThread() { runtime.LockOSThread() }

// freezeTree stops a process and its descendants, and returns when none of their threads runs any more. Parents are
// stopped first, so that none makes a child that is missed.
func freezeTree(pid int) error {
	_, err := signalTree(pid, syscall.SIGSTOP)
	return err
}

func thawTree(pid int) error {
	_, err := signalTree(pid, syscall.SIGCONT)
	return err
}

// killTree freezes the tree before it kills anything: the children of a killed process are no longer found by it.
func killTree(pid int) error {
	tree, err := signalTree(pid, syscall.SIGSTOP)
	errs := []error{err}
	for _, member := range tree {
		errs = append(errs, signalOne(member, syscall.SIGKILL))
	}
	for _, child := range tree[1:] { // the process itself is waited for by its parent, which is us
		awaitEnd(child)
	}
	return errors.Join(errs...)
}

// awaitStop returns when every thread of a process has stopped or ended: the signal alone lets those go on that run on
// another processor, long enough to answer a request.
func awaitStop(pid int) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
		if !slices.ContainsFunc(threads, runs) {
			return
		}
	}
}

// runs tells of the thread or process with this stat file whether it may still do something.
func runs(stat string) bool {
	text, err := os.ReadFile(stat)
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.ContainsAny(state[:min(1, len(state))], "TtZX")
}

// awaitEnd returns when a killed process that is not our child runs no more: until then it has its files and ports, and
// a server that is started anew may refuse to.
func awaitEnd(pid int) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, state, _ := strings.Cut(string(text), ") ")
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil || strings.HasPrefix(state, "Z") && len(threads) <= 1 { // other threads may outlive the first
			return
		}
	}
}

// signalTree signals a process, then its children, and so on, and returns them all.
func signalTree(pid int, sig syscall.Signal) ([]int, error) {
	tree := []int{pid}
	var errs []error
	for i := 0; i < len(tree); i++ {
		errs = append(errs, signalOne(tree[i], sig))
		if sig == syscall.SIGSTOP {
			awaitStop(tree[i])
		}
		tree = append(tree, children(tree[i])...)
	}
	return tree, errors.Join(errs...)
}

// signalOne signals a process that may have ended meanwhile.
func signalOne(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// children reads the children of all threads of a process.
func children(pid int) []int {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	var all []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
