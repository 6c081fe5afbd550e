package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// roleVariable makes the test binary, started again, something else.
const roleVariable = "TEST_ROLE"

// slowVariable names a duration by which guard processes start later.
const slowVariable = "TEST_SLOW_GUARD"

// roles are what it can be.
var roles = map[string]func(){"tenure": main}

func TestMain(m *testing.M) {
	if pause, err := time.ParseDuration(os.Getenv(slowVariable)); err == nil && len(os.Args) > 1 && os.Args[1] == "__guard" {
		time.Sleep(pause) // as on a machine that is out of memory, or whose disk hangs
	}
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		role()
		os.Exit(0)
	}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); commands(name) {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// commands reports whether a variable is one that the command heeds. Others say which servers there are.
func commands(name string) bool {
	for _, ours := range []string{"TENURE_SERVER", "TENURE_NEED_SERVERS", "TENURE_CACHE"} {
		if strings.HasPrefix(name, ours) {
			return false
		}
	}
	return strings.HasPrefix(name, "TENURE_") || name == "XDG_STATE_HOME"
}

// outcome is what a call of the command came to.
type outcome struct {
	stdout, stderr string
	code           int
}

// call calls the command within this process.
func call(t *testing.T, args ...string) outcome {
	t.Helper()
	return callWith(t.Context(), args...)
}

func callWith(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := conclude(&stderr, exec(ctx, args, strings.NewReader(""), &stdout, &stderr))
	return outcome{stdout.String(), stderr.String(), code}
}

// must calls the command, which has to succeed, and returns what it printed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	o := call(t, args...)
	if o.code != 0 {
		t.Fatalf("tenure %s: exit code %d: %s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o.stdout
}
