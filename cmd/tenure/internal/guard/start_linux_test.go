package guard_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

func farDeadlines() guard.Deadlines { return guard.Within(guard.Now().Add(farAway), farAway) }

func shell(script string) guard.Options {
	return guard.Options{Command: []string{"/bin/sh", "-c", script}, Deadlines: farDeadlines()}
}

func TestExitStatus(t *testing.T) {
	tests := map[string]struct {
		script string
		want   guard.Exit
		status int
	}{
		"success":  {"exit 0", guard.Exit{Code: 0}, 0},
		"failure":  {"exit 7", guard.Exit{Code: 7}, 7},
		"killed":   {"kill -KILL $$", guard.Exit{Code: -1, Signal: syscall.SIGKILL}, 137},
		"signaled": {"kill -TERM $$", guard.Exit{Code: -1, Signal: syscall.SIGTERM}, 143},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g, err := guard.Start(t.Context(), shell(test.script))
			if err != nil {
				t.Fatal(err)
			}
			test.want.Cause = guard.CauseExit
			exit, err := g.Wait()
			if exit != test.want || err != nil {
				t.Errorf("exit %#v, error %v; want %#v", exit, err, test.want)
			}
			if exit.Status() != test.status {
				t.Errorf("status %d, want %d", exit.Status(), test.status)
			}
			if row, there := readRow(g.PID()); there {
				t.Errorf("the command is still in the process table: %v", row)
			}
			for what, err := range map[string]error{
				"Extend": g.Extend(farDeadlines()), "Terminate": g.Terminate(guard.Now()), "Kill": g.Kill(),
				"Signal": g.Signal(syscall.SIGUSR1),
			} {
				if !errors.Is(err, guard.ErrEnding) {
					t.Errorf("%s after the end: %v, want ErrEnding", what, err)
				}
			}
		})
	}
}

func TestCommandCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		command string
		code    int
	}{
		"no such file":        {filepath.Join(dir, "missing"), guard.CodeNotFound},
		"not in PATH":         {"no-such-command-anywhere", guard.CodeNotFound},
		"no such interpreter": {write("orphan", "#!/no/such/interpreter\n", 0o755), guard.CodeNotFound},
		"not executable":      {write("text", "text", 0o644), guard.CodeNotExecutable},
		"no program":          {write("garbage", "\x00\x01\x02\x03", 0o755), guard.CodeNotExecutable},
		"a directory":         {dir, guard.CodeNotExecutable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := guard.Start(t.Context(), guard.Options{Command: []string{test.command}, Deadlines: farDeadlines()})
			var failure *guard.CommandError
			if !errors.As(err, &failure) {
				t.Fatalf("error %v, want a CommandError", err)
			}
			if failure.Code != test.code || failure.Command != test.command || failure.Reason == "" {
				t.Errorf("error %#v, want code %d", failure, test.code)
			}
		})
	}
}

func TestOptionsAreApplied(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\npwd\necho $WORD\ncat\necho bad >&2\n"
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	in, out, bad := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "bad")
	if err := os.WriteFile(in, []byte("input\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	options := guard.Options{
		Command: []string{"tool"}, Env: []string{"PATH=" + dir + ":/usr/bin:/bin", "WORD=word"}, Dir: dir,
		Stdin: open(t, in, os.O_RDONLY), Stdout: open(t, out, os.O_CREATE|os.O_WRONLY),
		Stderr: open(t, bad, os.O_CREATE|os.O_WRONLY), Deadlines: farDeadlines(),
	}
	g, err := guard.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := g.Wait(); exit.Status() != 0 || err != nil {
		t.Fatalf("exit %v, error %v", exit, err)
	}
	for file, want := range map[string]string{out: dir + "\nword\ninput\n", bad: "bad\n"} {
		if got, err := os.ReadFile(file); string(got) != want || err != nil {
			t.Errorf("%s has %q, error %v; want %q", filepath.Base(file), got, err, want)
		}
	}
}

func open(t *testing.T, path string, flag int) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func TestBadOptions(t *testing.T) {
	good := shell("exit 0")
	for name, test := range map[string]struct {
		spoil func(*guard.Options)
		want  string
	}{
		"no command":        {func(o *guard.Options) { o.Command = nil }, "no command"},
		"an empty command":  {func(o *guard.Options) { o.Command = []string{""} }, "no command"},
		"no deadlines":      {func(o *guard.Options) { o.Deadlines = guard.Deadlines{} }, "SignalAt"},
		"reversed":          {func(o *guard.Options) { o.Deadlines.KillAt = o.Deadlines.SignalAt - 1 }, "SignalAt"},
		"no such directory": {func(o *guard.Options) { o.Dir = "/no/such" }, "working directory: stat /no/such"},
	} {
		t.Run(name, func(t *testing.T) {
			options := good
			test.spoil(&options)
			g, err := guard.Start(t.Context(), options)
			if err == nil || g != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("started %v, error %v; want one about %q", g, err, test.want)
			}
		})
	}
}

func TestOverdueCommandNeverStarts(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	options := shell("echo > " + ran)
	options.Deadlines = guard.Deadlines{SignalAt: guard.Now(), KillAt: guard.Now().Add(farAway)}
	if _, err := guard.Start(t.Context(), options); !errors.Is(err, guard.ErrOverdue) {
		t.Errorf("error %v, want ErrOverdue", err)
	}
	if exists(ran) {
		t.Error("the command ran")
	}
}

// A start that is called off leaves nothing running, whenever that happens.
func TestStartCalledOff(t *testing.T) {
	cause := errors.New("called off")
	for range 25 {
		dir := workDir(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(rand.N(15*time.Millisecond), func() { cancel(cause) }) // about what a start takes
		w := worker{Name: "command", Ignore: true, Dir: dir}
		options := guard.Options{Command: w.command(), Deadlines: farDeadlines()}
		g, err := guard.Start(ctx, options)
		switch {
		case err == nil:
			if err := g.Kill(); err != nil {
				t.Fatal(err)
			}
			<-g.Ended()
		case !errors.Is(err, cause):
			t.Fatalf("error %v, want the cause", err)
		}
		if left := living(dir); len(left) > 0 {
			t.Fatalf("left: %v", left)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := guard.Start(ctx, shell("exit 0")); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause of a context that had ended before", err)
	}
}

// Extend never waits for a guard that does not read.
func TestExtendWithFrozenGuard(t *testing.T) {
	dir := workDir(t)
	options := guard.Options{Command: worker{Name: "command", Dir: dir}.command(), Deadlines: farDeadlines()}
	g, err := guard.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	process := parentOf(g.PID())
	freeze(t, process)
	const morePipesHold = 1 << 20
	for n := 0; err == nil; n++ {
		if n == morePipesHold {
			t.Fatal("the pipe never fills")
		}
		err = g.Extend(farDeadlines())
	}
	if !errors.Is(err, guard.ErrStalled) {
		t.Errorf("error %v, want ErrStalled", err)
	}
	thaw(t, process)
	eventually(t, "the guard reads again", func() bool { return g.Extend(farDeadlines()) == nil })
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
	if exit, err := g.Wait(); exit.Signal != syscall.SIGKILL || exit.Cause != guard.CauseAsked || err != nil {
		t.Errorf("exit %#v, error %v; want SIGKILL because asked", exit, err)
	}
}

// A guard process that was stuck while the supervisor ended the group in its place may see the end of the command before
// it reads that it was asked for, and must not have it taken for the command's own: then nobody would lead again.
func TestEndWhileTheGuardIsStuck(t *testing.T) {
	for what, ask := range map[string]func(*guard.Guard) error{
		"killed":     (*guard.Guard).Kill,
		"terminated": func(g *guard.Guard) error { return g.Terminate(guard.Now().Add(farAway)) },
	} {
		t.Run(what, func(t *testing.T) {
			for range 4 { // what it sees first is a matter of luck
				dir := workDir(t)
				options := guard.Options{Command: worker{Name: "command", Dir: dir}.command(), Deadlines: farDeadlines()}
				g, err := guard.Start(t.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				eventually(t, "the command is at work", func() bool { at, _ := lastBeat(dir, "command"); return at > 0 })
				process := parentOf(g.PID())
				freeze(t, process)
				if err := ask(g); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the command is dead", func() bool { p, _ := readRow(g.PID()); return p.state == "Z" })
				thaw(t, process)
				if exit, _ := g.Wait(); exit.Cause != guard.CauseAsked {
					t.Fatalf("exit %#v, want one because asked", exit)
				}
			}
		})
	}
}

// Processes whose supervisor and guard were killed together are dead before the next command starts.
func TestAbandonedCgroup(t *testing.T) {
	first := abandon(t)
	for chances := 4; len(first.working()) != 3 && chances > 0; chances-- {
		first = abandon(t) // a guard of another package's tests has begun meanwhile, and has not spared them either
	}
	if len(first.working()) != 3 {
		t.Fatalf("alive: %v, want the child, the session and the daemon", first.working())
	}
	second := startSupervisor(t, plan{Worker: worker{Name: "command"}})
	if left := first.working(); len(left) > 0 {
		t.Errorf("alive beside the next command: %v", left)
	}
	second.do(request{Do: "kill"})
	second.checkEnded(guard.CauseAsked, syscall.SIGKILL)
}

// abandon kills a supervisor and its guard, together with which the kernel kills the command alone.
func abandon(t *testing.T) *supervisor {
	t.Helper()
	s := startSupervisor(t, plan{Worker: family()})
	if !inOwnCgroup(t, s.leader) {
		t.Skip("the tests may not make cgroups here")
	}
	freeze(t, s.guard)
	kill(t, s.cmd.Process.Pid, syscall.SIGKILL)
	kill(t, s.guard, syscall.SIGKILL)
	_ = s.cmd.Wait()
	eventually(t, "the kernel has killed the command", func() bool {
		return !slices.ContainsFunc(s.working(), func(r row) bool { return r.pid == s.leader })
	})
	return s
}

func TestGuardsSpareEachOther(t *testing.T) {
	first := startSupervisor(t, plan{Worker: worker{Name: "command"}})
	second := startSupervisor(t, plan{Worker: worker{Name: "command"}})
	kill(t, second.guard, syscall.SIGKILL)
	second.expect("ended")
	third := startSupervisor(t, plan{Worker: worker{Name: "command"}})
	for _, s := range []*supervisor{first, third} {
		if e := s.do(request{Do: "kill"}); e.Err != "<nil>" {
			t.Error(e.Err)
		}
		s.checkEnded(guard.CauseAsked, syscall.SIGKILL)
	}
}

// inOwnCgroup reports whether a command has a cgroup to itself.
func inOwnCgroup(t *testing.T, pid int) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), "/tenure-guard-")
}

// The loss of one guard ends its own group alone: neither another guard nor other children of the supervisor.
func TestLossOfOneGuard(t *testing.T) {
	dir := workDir(t)
	start := func(name string) *guard.Guard {
		options := guard.Options{Command: worker{Name: name, Dir: dir}.command(), Deadlines: farDeadlines()}
		g, err := guard.Start(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	lost, kept := start("lost"), start("kept")
	child := exec.Command("/bin/sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	kill(t, parentOf(lost.PID()), syscall.SIGKILL)
	exit, err := lost.Wait()
	if exit.Cause != guard.CauseLost || exit.Signal != syscall.SIGKILL || !errors.Is(err, guard.ErrLost) {
		t.Errorf("exit %#v, error %v; want SIGKILL and the loss of the guard", exit, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Error("the loss of a guard ended a child that was not guarded")
	}
	_ = child.Wait()
	if err := kept.Kill(); err != nil {
		t.Errorf("kill the other group: %v", err)
	}
	if exit, err := kept.Wait(); exit.Cause != guard.CauseAsked || err != nil {
		t.Errorf("exit %#v, error %v; want one because asked", exit, err)
	}
}
