package guard

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// recheck is how often to look for the end of a group whose command has exited: the system tells of the command
// alone.
const recheck = 20 * time.Millisecond

// group is the command and its descendants in a job object, which the kernel ends when this process dies.
type group struct {
	leader  int
	cell    *cgroup
	job     windows.Handle
	changes chan struct{}

	mu    sync.Mutex
	ended *Exit
}

func newGroup(Options) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("guard: create a job object: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("guard: tie the job object to this process: %w", err)
	}
	return &group{job: job, changes: make(chan struct{}, 1)}, nil
}

// spawn starts the command suspended, so that it is in the job before it can start anything. It may run beside the
// other methods.
func (g *group) spawn(options Options) (pid int, err error) {
	cmd := exec.Command(options.Command[0], options.Command[1:]...)
	options.outfit(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if err := g.admit(cmd.Process); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return 0, err
	}
	go g.watch(cmd)
	return cmd.Process.Pid, nil
}

// admit puts the process into the job and lets it run.
func (g *group) admit(process *os.Process) error {
	var assigned error
	err := process.WithHandle(func(handle uintptr) {
		assigned = windows.AssignProcessToJobObject(g.job, windows.Handle(handle))
	})
	switch {
	case err != nil:
		return err
	case assigned != nil:
		return fmt.Errorf("guard: put the command into the job object: %w", assigned)
	}
	return resume(process.Pid)
}

// resume lets the first thread of a process run that was started suspended.
func resume(pid int) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("guard: list threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID == uint32(pid) {
			return resumeThread(entry.ThreadID)
		}
	}
	return fmt.Errorf("guard: find the command's thread: %w", err)
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return fmt.Errorf("guard: open the command's thread: %w", err)
	}
	defer windows.CloseHandle(thread)
	if _, err := windows.ResumeThread(thread); err != nil {
		return fmt.Errorf("guard: let the command run: %w", err)
	}
	return nil
}

func (g *group) watch(cmd *exec.Cmd) {
	_ = cmd.Wait()
	g.mu.Lock()
	g.ended = &Exit{Code: cmd.ProcessState.ExitCode()}
	g.mu.Unlock()
	g.changes <- struct{}{}
}

// signal sends CTRL_BREAK, the only signal that can be sent to a group of processes.
func (g *group) signal(syscall.Signal) {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.leader))
}

func (g *group) stop(sig syscall.Signal) { g.signal(sig) }

func (g *group) kill() {
	const code = 1
	_ = windows.TerminateJobObject(g.job, code)
}

func (g *group) reap() {}

// exit returns how the command ended, once it has.
func (g *group) exit() (exit Exit, exited bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended == nil {
		return Exit{}, false
	}
	return *g.ended, true
}

// empty reports whether no process is left in the job.
func (g *group) empty() bool {
	var accounting jobAccounting
	err := windows.QueryInformationJobObject(g.job, jobBasicAccounting, uintptr(unsafe.Pointer(&accounting)),
		uint32(unsafe.Sizeof(accounting)), nil)
	return err == nil && accounting.activeProcesses == 0
}

// jobBasicAccounting asks for jobAccounting, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
const jobBasicAccounting = 1

type jobAccounting struct {
	totalUserTime, totalKernelTime           int64
	thisPeriodUserTime, thisPeriodKernelTime int64
	totalPageFaults                          uint32
	totalProcesses                           uint32
	activeProcesses                          uint32
	terminatedProcesses                      uint32
}

func (g *group) close() { _ = windows.CloseHandle(g.job) }

// cgroup exists on Linux alone.
type cgroup struct{}

func (*cgroup) name() string { return "" }
