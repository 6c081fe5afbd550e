package exampletest

import (
	"context"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// TB is what this package needs of a test.
type TB interface {
	testserver.TB
	Context() context.Context
}

// Start starts a process that ends with the test. What it prints is its Log. Variables are NAME=VALUE.
func Start(tb TB, variables []string, program string, args ...string) *testserver.Process {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skipf("processes are frozen, and killed with their children, on Linux alone")
	}
	// A race detector that keeps every process for another second would have each of them miss its drain.
	variables = append([]string{"GORACE=atexit_sleep_ms=0"}, variables...)
	return testserver.Start(tb, testserver.Command{Program: program, Args: args, Env: variables})
}

// AwaitLog waits until a process has printed a text.
func AwaitLog(tb TB, p *testserver.Process, text string) {
	tb.Helper()
	storetest.Eventually(tb, "a process prints "+text, func() bool { return strings.Contains(p.Log(), text) })
}

// KillAlone kills a process, and leaves its children to themselves as the out-of-memory killer does.
func KillAlone(tb TB, p *testserver.Process) {
	tb.Helper()
	process, err := os.FindProcess(p.PID())
	if err == nil {
		err = process.Signal(syscall.SIGKILL)
	}
	if err != nil {
		tb.Fatalf("kill: %v", err)
	}
}
