package main

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// fault is something that befalls the leader. It returns what to do when the election has gone on without it.
type fault struct {
	name string
	do   func(c *chaos, leader entry) (after func())
	same bool // the command goes on under the same token
}

var faults = []fault{
	{name: "kill supervisor", do: func(c *chaos, leader entry) func() {
		c.nodes[leader.ID].signal(syscall.SIGKILL)
		return c.stand
	}},
	{name: "freeze supervisor", do: func(c *chaos, leader entry) func() {
		return c.freeze(c.nodes[leader.ID].cmd.Process.Pid)
	}},
	{name: "kill command", same: true, do: func(_ *chaos, leader entry) func() {
		_ = syscall.Kill(leader.PID, syscall.SIGKILL)
		return func() {}
	}},
	{name: "freeze command and resign", do: func(c *chaos, leader entry) func() {
		c.freeze(leader.PID)
		c.resign()
		return func() {}
	}},
	{name: "kill supervisor and command", do: func(c *chaos, leader entry) func() {
		c.nodes[leader.ID].signal(syscall.SIGKILL)
		_ = syscall.Kill(leader.PID, syscall.SIGKILL)
		return c.stand
	}},
	{name: "freeze supervisor and command", do: func(c *chaos, leader entry) func() {
		c.freeze(leader.PID)
		return c.freeze(c.nodes[leader.ID].cmd.Process.Pid)
	}},
	{name: "freeze command, kill supervisor", do: func(c *chaos, leader entry) func() {
		c.freeze(leader.PID)
		c.nodes[leader.ID].signal(syscall.SIGKILL)
		return c.stand
	}},
	{name: "kill guard", same: true, do: func(_ *chaos, leader entry) func() {
		_ = syscall.Kill(leader.Guard, syscall.SIGKILL)
		return func() {}
	}},
	{name: "freeze guard and resign", do: func(c *chaos, leader entry) func() {
		c.freeze(leader.Guard)
		c.resign()
		return func() {}
	}},
}

// chaos is an election that faults befall.
type chaos struct {
	*arena
	nodes map[string]*node
}

func (c *chaos) stand() {
	id := fmt.Sprintf("node-%d", len(c.nodes))
	c.nodes[id] = c.run("WORKER_STUBBORN=1", "--id", id, "--ttl", "4s", "--restart", "always", "--restart-delay", "20ms")
}

func (c *chaos) freeze(pid int) (undo func()) {
	c.t.Helper()
	freeze(c.t, pid)
	return func() { thaw(pid) }
}

func (c *chaos) resign() {
	c.t.Helper()
	must(c.t, c.flag, "resign", "x")
}

// TestChaos befalls leaders with every fault in turn, whose commands ignore that they are told to stop and leave
// children in sessions of their own: no two commands are ever alive at once, and tokens only rise.
func TestChaos(t *testing.T) {
	c := &chaos{newArena(t), map[string]*node{}}
	for range 3 {
		c.stand()
	}
	leader := c.awaitWorker(0)
	for _, f := range faults {
		at := guard.Now()
		after := f.do(c, leader)
		next := c.await("a command follows after: "+f.name, func(e entry) bool { return e.Event == begun && e.At > at })
		t.Logf("%-32s token %d after %v", f.name, next.Token, next.At.Sub(at).Round(time.Millisecond))
		if same := next.Token == leader.Token; same != f.same {
			t.Errorf("%s: the token was %d and is %d", f.name, leader.Token, next.Token)
		}
		after()
		leader = next
	}
	checkTerms(t, c.entries())
}
