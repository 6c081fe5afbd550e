package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"
)

// limits bound a process: a mutant may loop, hang, or fill the memory.
type limits struct {
	cpu, wall time.Duration // zero: none
	unbounded bool          // not even the memory: the compiler is trusted
}

// mostMemory is what a process may use where that can be bounded, in KiB.
const mostMemory = 4 << 20

// errTime is the end of a process that took too long.
var errTime = errors.New("it took too long")

// outcome is what a process did.
type outcome struct {
	err    error // errTime, the process's own failure, or none
	output string
	cpu    time.Duration
	wall   time.Duration
}

// execute runs a program to its end. Its children end with it, where the system allows for that.
func execute(ctx context.Context, l limits, dir string, env []string, name string, args ...string) outcome {
	bounded := ctx
	if l.wall > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, l.wall)
		defer cancel()
	}
	name, args = limited(l, name, args)
	cmd := exec.CommandContext(bounded, name, args...)
	var out head
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &out
	cmd.WaitDelay = 5 * time.Second
	alone(cmd)
	began := time.Now()
	o := outcome{err: cmd.Run(), wall: time.Since(began)}
	o.output = out.String()
	if s := cmd.ProcessState; s != nil {
		o.cpu = s.UserTime() + s.SystemTime()
	}
	if o.err != nil && (bounded.Err() != nil || l.cpu > 0 && o.cpu >= l.cpu) {
		o.err = errTime
	}
	if ctx.Err() != nil {
		o.err = ctx.Err()
	}
	return o
}

// executeGo runs the go command. What it leaves behind when it is killed lies in dir.
func executeGo(ctx context.Context, root, dir string, args []string) outcome {
	return execute(ctx, limits{unbounded: true}, root, append(os.Environ(), "GOTMPDIR="+dir), "go", args...)
}

// head keeps the beginning of what a process prints, which names what failed first.
type head struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const mostOutput = 16 << 10

func (t *head) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p[:min(len(p), mostOutput-t.text.Len())])
	return len(p), nil
}

func (t *head) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
