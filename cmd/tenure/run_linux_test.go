package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// lease is one that a busy machine renews in time, and that is waited for where it has to run out.
const lease = "4s"

func TestRunPassesStatusOn(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	for script, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -9 $$": 137, "kill -TERM $$": 143} {
		n := a.runShell(script)
		if got := n.wait(); got != want {
			t.Errorf("%q: status %d, want %d", script, got, want)
		}
	}
	for command, want := range map[string]int{"/no/such/command": 127, "no-such-command": 127, "/etc": 126} {
		n := a.start("run", "--election", "x", command)
		if got := n.wait(); got != want || strings.Count(n.stderr.String(), "cannot be started") != 1 {
			t.Errorf("%s: status %d, want %d; it said %q", command, got, want, n.stderr.String())
		}
	}
	if s := decode[[]standing](t, call(t, a.flag, "status", "x", "--json").stdout)[0]; s.State != stateVacant {
		t.Errorf("the seat was not given back: %+v", s)
	}
}

func TestRunTellsTheCommandItsTerm(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.runShell("true").wait()
	n := a.runShell(`echo "$TENURE_ELECTION $TENURE_ID $TENURE_TOKEN $TENURE_STORE"`, "--id", "node-a")
	n.wait()
	if got, want := n.stdout.String(), "x node-a 2 file:"+a.dir+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRunWithoutACgroup: whoever manages cgroups otherwise, or limits memory by them, keeps the command in his own.
func TestRunWithoutACgroup(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.runShell("cat /proc/self/cgroup", "--no-cgroup")
	n.wait()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	if n.stdout.String() != string(own) {
		t.Errorf("the command is in %q, want %q", n.stdout.String(), own)
	}
}

func TestRunPassesInputOn(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.launch("", "sh", "-c", `echo hello | "$0" "$@"`, a.self, a.flag, "run", "--election", "x", "cat")
	if n.wait(); n.stdout.String() != "hello\n" {
		t.Errorf("got %q", n.stdout.String())
	}
}

func TestRunAdvertisesItself(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.run("", "--id", "node-a", "--address", "here:80", "--meta", "zone=b", "--meta", "rack=7=8")
	a.awaitWorker(0)
	s := decode[[]standing](t, must(t, a.flag, "status", "x", "--json"))[0]
	if s.Leader != "node-a" || s.Address != "here:80" || s.Metadata["zone"] != "b" || s.Metadata["rack"] != "7=8" {
		t.Errorf("got %+v", s)
	}
}

func TestRunRestarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		script string // $1 counts the starts
		starts int
		status int
	}{
		{"never", "exit 1", 1, 1},
		{"on-failure", `[ $n = 3 ]`, 3, 0},
		{"always", `[ $n = 4 ] && kill -TERM $SUPERVISOR && sleep 60; exit 0`, 4, 143},
	} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			a := newArena(t)
			count := filepath.Join(a.t.TempDir(), "count")
			script := `echo $TENURE_TOKEN >>` + count + `; n=$(wc -l <` + count + `)
				SUPERVISOR=$(awk '{print $4}' /proc/$PPID/stat)
				` + c.script
			n := a.runShell(script, "--restart", c.policy, "--restart-delay", "10ms")
			if got := n.wait(); got != c.status {
				t.Errorf("status %d, want %d", got, c.status)
			}
			tokens, err := os.ReadFile(count)
			if want := strings.Repeat("1\n", c.starts); err != nil || string(tokens) != want {
				t.Errorf("started under the tokens %q, want %q", tokens, want)
			}
		})
	}
}

func TestSignalWhileStandingBy(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.run("")
	a.awaitWorker(0)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		n := a.run(roleVariable+"=hearing", "-v", "--id", "standby")
		n.awaitText("decision") // it listens to signals by now
		n.signal(sig)
		if got, want := n.wait(), 128+int(sig); got != want {
			t.Errorf("%v: status %d, want %d", sig, got, want)
		}
	}
}

func TestIgnoredHangUpStaysIgnored(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	args := append([]string{"-c", `trap "" HUP; exec "$0" "$@"`, a.self, a.flag}, campaigning(nil)...)
	n := a.launch("", "sh", append(args, "--", "env", roleVariable+"=worker", a.self)...)
	first := a.awaitWorker(0)
	n.signal(syscall.SIGHUP)
	n.signal(syscall.SIGTERM)
	if got := n.wait(); got != 0 {
		t.Errorf("status %d, want the worker's 0", got)
	}
	if !gone(first.PID) {
		t.Error("the worker is alive")
	}
}

func TestSignalWhileLeading(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.run("WORKER_STATUS=5")
	first := a.awaitWorker(0)
	n.signal(syscall.SIGTERM)
	if got := n.wait(); got != 5 {
		t.Errorf("status %d, want the worker's 5", got)
	}
	a.await("the worker is told to stop", func(e entry) bool { return e.Event == ended })
	if !gone(first.PID) || !gone(first.Guard) {
		t.Error("worker or guard is alive")
	}
	if s := decode[[]standing](t, call(t, a.flag, "status", "x", "--json").stdout)[0]; s.State != stateVacant {
		t.Errorf("the seat was not given back: %+v", s)
	}
}

// TestSignalWhileTheCommandIsStarted: the command has the drain to stop, also if it has only just begun.
func TestSignalWhileTheCommandIsStarted(t *testing.T) {
	t.Parallel()
	for range 5 { // the moment is a matter of luck
		a := newArena(t)
		n := a.runShell("trap 'exit 7' TERM; while :; do sleep 0.01; done")
		n.awaitText("elected")
		n.signal(syscall.SIGTERM)
		got := n.wait()
		if got != 7 && got != 143 || strings.Contains(n.stderr.String(), "killed=true") { // 143 before the trap is set
			t.Errorf("status %d, want 7 or 143 and no kill", got)
		}
	}
}

func TestCommandGetsTheChosenSignal(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.runShell("trap 'exit 7' USR1; trap '' TERM; echo ready >&2; while :; do sleep 0.01; done", "--signal", "SIGUSR1")
	n.awaitText("ready")
	n.signal(syscall.SIGTERM)
	if got := n.wait(); got != 7 {
		t.Errorf("status %d, want 7", got)
	}
}

// TestSecondSignalKills: the kill at the end of the drain would come after 22 s.
func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.run("WORKER_STUBBORN=1", "--ttl", "60s", "--drain", "30s")
	a.awaitWorker(0)
	n.signal(syscall.SIGTERM)
	a.await("the worker is told to stop", func(e entry) bool { return e.Event == told })
	start := time.Now()
	n.signal(syscall.SIGTERM)
	if got, took := n.wait(), time.Since(start); got != 137 || took > 10*time.Second {
		t.Errorf("status %d after %v, want 137 at once", got, took)
	}
}

func TestStubbornCommandIsKilledAfterTheDrain(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.run("WORKER_STUBBORN=1", "--ttl", "20s", "--drain", "4s")
	a.awaitWorker(0)
	n.signal(syscall.SIGTERM)
	if got := n.wait(); got != 137 {
		t.Errorf("status %d, want 137", got)
	}
	if s := decode[[]standing](t, call(t, a.flag, "status", "x", "--json").stdout)[0]; s.State != stateVacant {
		t.Errorf("the seat was not given back: %+v", s)
	}
}

func TestOnceEndsWithALostTerm(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.run("", "--once")
	first := a.awaitWorker(0)
	must(t, a.flag, "resign", "x", "--wait", "--timeout", "30s")
	if got := n.wait(); got != codeLost || !strings.Contains(n.stderr.String(), "leadership was lost: resigned") {
		t.Errorf("status %d, want %d; it said %s", got, codeLost, n.stderr.String())
	}
	if !gone(first.PID) {
		t.Error("the worker is alive")
	}
}

func TestRunStandsAgainAfterALostTerm(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.run("", "--ttl", lease)
	first := a.awaitWorker(0)
	must(t, a.flag, "resign", "x")
	second := a.awaitWorker(first.Token)
	if second.Guard == first.Guard || second.PID == first.PID {
		t.Errorf("got %+v after %+v", second, first)
	}
	n.signal(syscall.SIGTERM)
	if got := n.wait(); got != 0 {
		t.Errorf("status %d, want the worker's 0", got)
	}
	checkTerms(t, a.entries())
}

// TestRenewalsKeepTheCommandRunning for several leases.
func TestRenewalsKeepTheCommandRunning(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	const ttl = 4 * time.Second
	a.run("", "--ttl", ttl.String())
	first := a.awaitWorker(0)
	a.await("the worker runs for three leases", func(e entry) bool { return e.At.Sub(first.At) > 3*ttl })
	for _, e := range a.entries() {
		if e.PID != first.PID || e.Event == told {
			t.Fatalf("got %+v", e)
		}
	}
}

// TestStoreThatGoesAway: the command ends with the lease, and runs again when the store is back.
func TestStoreThatGoesAway(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.run("", "--ttl", lease)
	first := a.awaitWorker(0)
	if err := os.Rename(a.dir, a.dir+".away"); err != nil {
		t.Fatal(err)
	}
	a.await("the worker is told to stop", func(e entry) bool { return e.Event == told })
	if err := os.Rename(a.dir+".away", a.dir); err != nil {
		t.Fatal(err)
	}
	a.awaitWorker(first.Token)
	checkTerms(t, a.entries())
}

// TestRecordThatIsDamaged ends the run: trying again is useless.
func TestRecordThatIsDamaged(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.run("", "--ttl", lease)
	first := a.awaitWorker(0)
	record := filepath.Join(a.dir, "elections", "x.json")
	write(t, record, "no JSON")
	if got := n.wait(); got != codeStore || !strings.Contains(n.stderr.String(), "tenure: permanent failure of the store") {
		t.Errorf("status %d, want %d; it said %s", got, codeStore, n.stderr.String())
	}
	if !gone(first.PID) || !gone(first.Guard) {
		t.Error("worker or guard is alive")
	}
}

// TestDeposedCommandIsKilledAtOnce: somebody else may act already, so there is no drain, which would last 15 s.
func TestDeposedCommandIsKilledAtOnce(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.run("WORKER_STUBBORN=1", "--ttl", "60s", "--drain", "20s")
	first := a.awaitWorker(0)
	store := a.store()
	now, err := store.Load(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	usurper := tenure.Record{Token: first.Token + 1, Leader: "usurper", Session: "s", TTL: time.Minute}
	if _, err := store.CompareAndSwap(t.Context(), "x", now.Version, usurper); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	a.eventually("the worker is dead", func() bool { return gone(first.PID) })
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// slow has guards take so long to start.
func slow(start string) string { return slowVariable + "=" + start }

// A lease in which the command cannot be started is refused before anybody leads.
func TestLeaseTooShortToStartTheCommand(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	n := a.run(slow("500ms"), "--ttl", "400ms")
	if got, said := n.wait(), n.stderr.String(); got != codeFailed || !strings.Contains(said, "want a TTL of ") {
		t.Errorf("status %d, want %d; it said %s", got, codeFailed, said)
	}
	if o := call(t, a.flag, "status", "x"); o.code != codeVacant || strings.Contains(o.stdout, "token") {
		t.Errorf("somebody has led: %+v", o)
	}
}

// A command that is started too late again and again is given up, and the seat given back each time, whether its guard
// comes so late that it refuses or does not come at all.
func TestCommandIsStartedTooLate(t *testing.T) {
	for name, start := range map[string]string{"late": "2500ms", "never": "1h"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t)
			n := a.run(slow(start), "--ttl", "1500ms")
			if got, said := n.wait(), n.stderr.String(); got != codeFailed || strings.Count(said, "give a longer TTL") != 1 {
				t.Errorf("status %d, want %d; it said %s", got, codeFailed, said)
			}
			s := decode[[]standing](t, call(t, a.flag, "status", "x", "--json").stdout)[0]
			if s.State != stateVacant || s.Token != 3 || len(a.entries()) > 0 {
				t.Errorf("want three terms, each given back, and no worker: %+v, %+v", s, a.entries())
			}
		})
	}
}

// With --once a command that is started too late is a lost term, not one that was done.
func TestCommandIsStartedTooLateOnce(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	if n := a.run(slow("2500ms"), "--ttl", "1500ms", "--once"); n.wait() != codeLost {
		t.Errorf("status %d, want %d; it said %s", n.wait(), codeLost, n.stderr.String())
	}
}
