package main

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// TestKilledSupervisorIsFollowedAtOnce: the kernel's lock proves the death, so nobody waits for the TTL.
func TestKilledSupervisorIsFollowedAtOnce(t *testing.T) {
	a := newArena(t)
	const ttl = time.Minute
	nodes := map[string]*node{}
	stand := func(id string) {
		nodes[id] = a.run("WORKER_STUBBORN=1", "-v", "--id", id, "--ttl", ttl.String())
		nodes[id].awaitText("decision")
	}
	stand("node-0")
	leader := a.awaitWorker(0)
	for i := range 5 {
		stand(fmt.Sprintf("node-%d", i+1))
		killed := guard.Now()
		nodes[leader.ID].signal(syscall.SIGKILL)
		next := a.awaitWorker(leader.Token)
		took := next.At.Sub(killed)
		t.Logf("a command of token %d runs %v after the supervisor of token %d was killed", next.Token, took, leader.Token)
		if took > ttl/4 {
			t.Errorf("it took %v", took)
		}
		leader = next
	}
	checkTerms(t, a.entries())
}

// TestGuardHoldsTheSeat: while the guard lives the command may, so the seat must not be taken although the supervisor
// is dead.
func TestGuardHoldsTheSeat(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	leading := a.run("", "--id", "node-a", "--ttl", "1m")
	first := a.awaitWorker(0)
	a.run("", "-v", "--id", "node-b", "--ttl", "1m").awaitText("decision")
	freeze(t, first.Guard)
	leading.signal(syscall.SIGKILL)
	time.Sleep(time.Second) // nothing shall happen: there is nothing else to wait for
	for _, e := range a.entries() {
		if e.Token != first.Token {
			t.Fatalf("%s took the seat while the guard is alive", e.ID)
		}
	}
	thaw(first.Guard)
	a.awaitWorker(first.Token)
	checkTerms(t, a.entries())
}

// TestFrozenSupervisorLosesItsCommand before anybody else leads, and stands again when it is thawed.
func TestFrozenSupervisorLosesItsCommand(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	frozen := a.run("WORKER_STUBBORN=1", "--id", "node-a", "--ttl", "4s")
	first := a.awaitWorker(0)
	a.run("WORKER_STUBBORN=1", "--id", "node-b", "--ttl", "4s")
	freeze(t, frozen.cmd.Process.Pid)
	second := a.awaitWorker(first.Token)
	if second.ID != "node-b" || !gone(first.PID) {
		t.Errorf("got %+v, and the first worker is gone: %v", second, gone(first.PID))
	}
	thaw(frozen.cmd.Process.Pid)
	must(t, a.flag, "transfer", "x", "--to", "node-a", "--wait", "--timeout", patience.String())
	if third := a.awaitWorker(second.Token); third.ID != "node-a" {
		t.Errorf("got %+v", third)
	}
	checkTerms(t, a.entries())
}

// freeze stops a process until the end of the test, or until it is thawed.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { thaw(pid) })
}

func thaw(pid int) { _ = syscall.Kill(pid, syscall.SIGCONT) }
