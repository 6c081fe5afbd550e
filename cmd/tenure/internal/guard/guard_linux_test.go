package guard_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// family is a command with everything that makes it hard to end: a child in its group, one in a session of its own
// whose first thread has exited, and a daemon whose parent has gone. All of them ignore the signal.
func family() worker {
	return worker{Name: "command", Ignore: true, Children: []worker{
		{Name: "child", Ignore: true},
		{Name: "session", Ignore: true, Setsid: true, Headless: true},
		{Name: "fork", Exit: true, Children: []worker{{Name: "daemon", Ignore: true, Setsid: true}}},
	}}
}

// inAndOutOfCgroups runs a test with and without a cgroup for the command. Where none can be had both are the same.
func inAndOutOfCgroups(t *testing.T, test func(t *testing.T, noCgroup bool)) {
	t.Run("cgroup", func(t *testing.T) { test(t, false) })
	t.Run("no cgroup", func(t *testing.T) { test(t, true) })
}

func TestSupervisorKilled(t *testing.T) {
	inAndOutOfCgroups(t, func(t *testing.T, noCgroup bool) {
		s := startSupervisor(t, plan{Worker: family(), NoCgroup: noCgroup})
		freeze(t, s.guard)
		killed := guard.Now()
		kill(t, s.cmd.Process.Pid, syscall.SIGKILL)
		_ = s.cmd.Wait()
		eventually(t, "the family works on", func() bool { return s.lastWork() > killed })
		if s.lockIsFree() {
			t.Fatal("the lock is free while the family works")
		}
		thaw(t, s.guard)
		free := s.waitForLock()
		if left := s.working(); len(left) > 0 {
			t.Errorf("alive after the lock became free: %v", left)
		}
		if last := s.lastWork(); last > free {
			t.Errorf("worked at %v, after the lock became free at %v", last, free)
		}
	})
}

func TestSupervisorFrozen(t *testing.T) {
	t.Run("command ignores the signal", func(t *testing.T) {
		inAndOutOfCgroups(t, func(t *testing.T, noCgroup bool) {
			s := startSupervisor(t, plan{Worker: family(), NoCgroup: noCgroup})
			d := shortDeadlines()
			s.extend(d)
			freeze(t, s.cmd.Process.Pid)
			s.waitForDeath()
			s.checkSignalled(d, "command", "child", "session", "daemon")
			s.checkKilled(d)
			thaw(t, s.cmd.Process.Pid)
			s.checkEnded(guard.CauseDeadline, syscall.SIGKILL)
		})
	})
	t.Run("command stops", func(t *testing.T) {
		s := startSupervisor(t, plan{Worker: worker{Name: "command", Children: []worker{{Name: "child"}}}})
		d := shortDeadlines()
		d.KillAt = d.SignalAt.Add(farAway)
		s.extend(d)
		freeze(t, s.cmd.Process.Pid)
		s.waitForDeath()
		s.checkSignalled(d, "command", "child")
		thaw(t, s.cmd.Process.Pid)
		if e := s.checkEnded(guard.CauseDeadline, 0); e.Exit.Code != 0 {
			t.Errorf("exit %v, want the status 0 of a command that stopped in good order", e.Exit)
		}
	})
}

// shortDeadlines leave time for what a test does before they pass, on a machine that is busy or stalls, too.
func shortDeadlines() guard.Deadlines {
	signalAt := guard.Now().Add(4 * time.Second)
	return guard.Deadlines{SignalAt: signalAt, KillAt: signalAt.Add(2500 * time.Millisecond)}
}

// checkSignalled checks that the workers got the signal, and not before its time. A busy machine can make both
// enforcers send it.
func (s *supervisor) checkSignalled(d guard.Deadlines, names ...string) {
	s.t.Helper()
	for _, name := range names {
		got := notedSignals(s.t, s.plan.Dir, name)
		if len(got) == 0 || got[0].sig != syscall.SIGTERM {
			s.t.Errorf("%s got %v, want SIGTERM", name, got)
			continue
		}
		if got[0].at < d.SignalAt || got[0].at > d.KillAt {
			s.t.Errorf("%s got the signal at %v, not between %v and %v", name, got[0].at, d.SignalAt, d.KillAt)
		}
	}
}

// checkKilled checks that workers who ignore the signal worked on after it, but not long after the second deadline.
// How long is a matter of how busy the machine is; the time allowed is far less than any failure to enforce would show.
func (s *supervisor) checkKilled(d guard.Deadlines) {
	s.t.Helper()
	const slack = 5 * time.Second
	if last := s.lastWork(); last < d.SignalAt || last > d.KillAt.Add(slack) {
		s.t.Errorf("last worked %v after the signal, %v after the kill", last.Sub(d.SignalAt), last.Sub(d.KillAt))
	}
}

// checkEnded checks how the supervisor saw the end, and that it has no children left.
func (s *supervisor) checkEnded(cause guard.Cause, sig syscall.Signal) event {
	s.t.Helper()
	e := s.expect("ended")
	if e.Exit.Cause != cause || e.Exit.Signal != sig || e.Lost {
		s.t.Errorf("ended with %+v, want cause %q and signal %d", e, cause, sig)
	}
	if e.Children != 0 {
		s.t.Errorf("the supervisor is left with %d children", e.Children)
	}
	return e
}

func TestGuardKilled(t *testing.T) {
	inAndOutOfCgroups(t, func(t *testing.T, noCgroup bool) {
		s := startSupervisor(t, plan{Worker: family(), NoCgroup: noCgroup})
		kill(t, s.guard, syscall.SIGKILL)
		e := s.expect("ended")
		if !e.Lost || e.Exit.Signal != syscall.SIGKILL || e.Children != 0 {
			t.Errorf("ended with %+v, want the loss of the guard, SIGKILL and no children", e)
		}
		if left := s.working(); len(left) > 0 {
			t.Errorf("alive after the end was reported: %v", left)
		}
	})
}

// The kernel kills the command even if nobody is there to do it.
func TestGuardKilledWhileSupervisorFrozen(t *testing.T) {
	s := startSupervisor(t, plan{Worker: worker{Name: "command", Ignore: true}})
	freeze(t, s.cmd.Process.Pid)
	kill(t, s.guard, syscall.SIGKILL)
	s.waitForDeath()
	thaw(t, s.cmd.Process.Pid)
	if e := s.expect("ended"); !e.Lost || e.Children != 0 {
		t.Errorf("ended with %+v, want the loss of the guard and no children", e)
	}
}

func TestGuardFrozen(t *testing.T) {
	inAndOutOfCgroups(t, func(t *testing.T, noCgroup bool) {
		s := startSupervisor(t, plan{Worker: family(), NoCgroup: noCgroup})
		d := shortDeadlines()
		s.extend(d)
		freeze(t, s.guard)
		e := s.expect("ended")
		if !e.Lost || e.Exit.Signal != syscall.SIGKILL || e.Exit.Cause != guard.CauseDeadline || e.Children != 0 {
			t.Errorf("ended with %+v, want the loss of the guard at the deadline, SIGKILL and no children", e)
		}
		if left := s.working(); len(left) > 0 {
			t.Errorf("alive after the end was reported: %v", left)
		}
		s.checkSignalled(d, "command", "child", "session", "daemon")
		s.checkKilled(d)
	})
}

// A message that waited in the pipe, behind a frozen guard and from a supervisor frozen since, counts by the clock.
func TestStaleMessage(t *testing.T) {
	s := startSupervisor(t, plan{Worker: worker{Name: "command", Ignore: true}})
	const ahead = 6 * time.Second
	at := guard.Now().Add(ahead)
	d := guard.Deadlines{SignalAt: at, KillAt: at}
	freeze(t, s.guard)
	s.extend(d)
	freeze(t, s.cmd.Process.Pid)
	sleepUntil(at)
	thaw(t, s.guard)
	s.waitForDeath()
	// Were the message taken as the time that remained when it was sent, the command would work on for that time.
	const slack = ahead * 3 / 4
	if last := s.lastWork(); last > d.KillAt.Add(slack) {
		t.Errorf("worked until %v after the deadline", last.Sub(d.KillAt))
	}
	thaw(t, s.cmd.Process.Pid)
	s.checkEnded(guard.CauseDeadline, syscall.SIGKILL)
}

func TestExtend(t *testing.T) {
	s := startSupervisor(t, plan{Worker: worker{Name: "command", Ignore: true}})
	first := shortDeadlines()
	s.extend(first)
	second := first
	second.SignalAt, second.KillAt = first.SignalAt.Add(400*time.Millisecond), first.KillAt.Add(400*time.Millisecond)
	s.extend(second)
	eventually(t, "the signal", func() bool { return len(notedSignals(t, s.plan.Dir, "command")) > 0 })
	e := s.do(request{Do: "extend", Deadlines: guard.Within(guard.Now().Add(farAway), farAway)})
	if !e.Ending {
		t.Errorf("extending after the deadline: %q, want ErrEnding", e.Err)
	}
	s.checkEnded(guard.CauseDeadline, syscall.SIGKILL)
	s.checkSignalled(second, "command")
	s.checkKilled(second)
}

func TestTerminate(t *testing.T) {
	s := startSupervisor(t, plan{Worker: family()})
	d := guard.Deadlines{SignalAt: guard.Now(), KillAt: guard.Now().Add(2500 * time.Millisecond)}
	s.do(request{Do: "terminate", Deadlines: d})
	s.checkEnded(guard.CauseAsked, syscall.SIGKILL)
	s.checkSignalled(d, "command", "child", "session", "daemon")
	s.checkKilled(d)
}

func TestKill(t *testing.T) {
	s := startSupervisor(t, plan{Worker: family()})
	s.do(request{Do: "kill"})
	s.checkEnded(guard.CauseAsked, syscall.SIGKILL)
	if left := s.working(); len(left) > 0 {
		t.Errorf("alive after the end was reported: %v", left)
	}
}

func TestFrozenCommandCanStop(t *testing.T) {
	s := startSupervisor(t, plan{Worker: worker{Name: "command"}})
	freeze(t, s.leader)
	s.do(request{Do: "terminate", Deadlines: guard.Deadlines{KillAt: guard.Now().Add(farAway)}})
	if e := s.checkEnded(guard.CauseAsked, 0); e.Exit.Code != 0 {
		t.Errorf("exit %v, want 0", e.Exit)
	}
}

func TestSignalIsPassedOn(t *testing.T) {
	child := worker{Name: "child", Ignore: true}
	s := startSupervisor(t, plan{Worker: worker{Name: "command", Ignore: true, Children: []worker{child}}})
	s.do(request{Do: "signal", Signal: syscall.SIGUSR1})
	for _, name := range []string{"command", "child"} {
		eventually(t, name+" gets the signal", func() bool {
			got := notedSignals(t, s.plan.Dir, name)
			return len(got) == 1 && got[0].sig == syscall.SIGUSR1
		})
	}
	s.do(request{Do: "kill"})
	s.checkEnded(guard.CauseAsked, syscall.SIGKILL)
}

// Nothing that the command leaves behind is orphaned: it gets the signal, then it is killed.
func TestLeftBehind(t *testing.T) {
	inAndOutOfCgroups(t, func(t *testing.T, noCgroup bool) {
		command := family()
		command.Exit, command.Status = true, 7
		s := startSupervisor(t, plan{Worker: command, NoCgroup: noCgroup})
		eventually(t, "the child gets the signal", func() bool { return len(notedSignals(t, s.plan.Dir, "child")) > 0 })
		eventually(t, "the daemon gets the signal", func() bool { return len(notedSignals(t, s.plan.Dir, "daemon")) > 0 })
		s.do(request{Do: "terminate", Deadlines: guard.Deadlines{KillAt: guard.Now()}})
		if e := s.checkEnded(guard.CauseExit, 0); e.Exit.Code != 7 {
			t.Errorf("exit %v, want the command's own status 7", e.Exit)
		}
		if left := s.working(); len(left) > 0 {
			t.Errorf("alive after the end was reported: %v", left)
		}
	})
}

// Signals to the guard itself change nothing: what they mean is for the supervisor to decide.
func TestGuardSurvivesSignals(t *testing.T) {
	s := startSupervisor(t, plan{Worker: worker{Name: "command", Ignore: true}})
	const usr1 = syscall.SIGUSR1
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, usr1} {
		kill(t, s.guard, sig)
	}
	if e := s.do(request{Do: "signal", Signal: usr1}); e.Err != "<nil>" {
		t.Fatal(e.Err)
	}
	eventually(t, "the guard works on", func() bool { return len(notedSignals(t, s.plan.Dir, "command")) == 1 })
	s.do(request{Do: "kill"})
	s.checkEnded(guard.CauseAsked, syscall.SIGKILL)
}

// The command inherits neither the guard's pipes nor the lock, and the ignored signals of the supervisor alone.
func TestInheritance(t *testing.T) {
	s := newSupervisor(t, plan{Worker: worker{Name: "command", Ignore: true, Inspect: true}})
	s.cmd.Args[0] = executable(t)
	s.cmd.Path, s.cmd.Args = "/bin/sh", append([]string{"/bin/sh", "-c", `trap "" HUP; exec "$0" "$@"`}, s.cmd.Args...)
	s.start()
	text, err := os.ReadFile(s.plan.Worker.file("files"))
	if err != nil {
		t.Fatal(err)
	}
	open := strings.Split(string(text), "\n")
	var kept []string
	for _, fd := range []string{"3", "4", "5"} {
		target, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(s.guard), "fd", fd))
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, target)
		if slices.Contains(open, target) {
			t.Errorf("the command inherits the guard's descriptor %s, %s", fd, target)
		}
	}
	if !slices.Contains(kept, s.plan.lockFile()) {
		t.Errorf("the guard has open %v, not the lock", kept)
	}
	const hangUp = 1 // the lowest bit
	got := ignored(t, s.plan.Worker.file("status"))
	want := ignored(t, filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "status"))
	if got != want || got&hangUp == 0 {
		t.Errorf("the command ignores signals %x, the supervisor %x", got, want)
	}
	s.do(request{Do: "kill"})
	s.checkEnded(guard.CauseAsked, syscall.SIGKILL)
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// ignored returns the set of ignored signals of a process.
func ignored(t *testing.T, status string) uint64 {
	t.Helper()
	text, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if set, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			signals, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			return signals
		}
	}
	t.Fatal("no SigIgn")
	return 0
}
