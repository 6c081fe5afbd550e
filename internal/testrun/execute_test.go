package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The tests of this package are run by itself, with this variable set.
const roleVariable = "TESTRUN_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "leaves a child" {
		child := exec.Command("sleep", "120")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Println("left behind:", child.Process.Pid)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// These are run by TestOutcomes alone.

func TestRolePasses(t *testing.T) { needRole(t) }

func TestRoleSkips(t *testing.T) {
	needRole(t)
	t.Run("below", func(t *testing.T) { t.Skip("for this: reason") })
}

func TestRoleFails(t *testing.T) {
	needRole(t)
	if os.Getenv(roleVariable) == "fails" {
		t.Log("beside")
		t.Run("below", func(t *testing.T) { t.Error("what went wrong") })
	}
}

func TestRolePanics(t *testing.T) {
	needRole(t)
	if os.Getenv(roleVariable) == "panics" {
		panic("out of the blue")
	}
}

func needRole(t *testing.T) {
	t.Helper()
	if os.Getenv(roleVariable) == "" {
		t.Skip("it is run by TestOutcomes")
	}
}

// run has the tests above run in a role.
func run(t *testing.T, role string) result {
	t.Helper()
	text, err := exec.Command("go", "tool", "-n", "test2json").Output()
	if err != nil {
		t.Fatal(err)
	}
	binary := t.TempDir() + "/copy.test"
	if err := os.Link(os.Args[0], binary); err != nil {
		content, readErr := os.ReadFile(os.Args[0])
		if readErr != nil || os.WriteFile(binary, content, 0o755) != nil {
			t.Fatal(err)
		}
	}
	x := execution{
		options: options{run: "^TestRole"}, test2json: strings.TrimSpace(string(text)),
		env: append(os.Environ(), roleVariable+"="+role),
	}
	return x.one(t.Context(), job{pkg: pkg{dir: "d", path: "m/d", abs: t.TempDir()}, mode: plain}, binary)
}

func TestOutcomes(t *testing.T) {
	t.Run("passes", func(t *testing.T) {
		r := run(t, "passes")
		if r.err != nil || r.passed != 4 || len(r.tests) != 4 || r.cpu <= 0 || r.wall <= 0 {
			t.Errorf("%+v", r)
		}
		if len(r.skipped) != 1 || r.skipped[0] != (skip{"d", "TestRoleSkips/below", "for this: reason"}) {
			t.Errorf("skipped: %+v", r.skipped)
		}
	})
	t.Run("fails", func(t *testing.T) {
		r := run(t, "fails")
		if r.err == nil || !strings.Contains(r.failed, "what went wrong") || !strings.Contains(r.failed, "beside") {
			t.Errorf("%v: %s", r.err, r.failed)
		}
		if strings.Contains(r.failed, "TestRolePasses") {
			t.Errorf("a test that passed is told of: %s", r.failed)
		}
	})
	t.Run("panics", func(t *testing.T) {
		if r := run(t, "panics"); r.err == nil || !strings.Contains(r.failed, "out of the blue") {
			t.Errorf("%v: %s", r.err, r.failed)
		}
	})
}

// A package whose tests leave a process behind, which holds their output open, fails, and soon.
func TestWhatIsLeftBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("left to make test-all: it waits for ten seconds")
	}
	r := run(t, "leaves a child")
	if r.err == nil || !strings.Contains(r.err.Error(), "left behind") {
		t.Errorf("%v: %s", r.err, r.failed)
	}
	var pid int
	if _, err := fmt.Sscanf(r.failed, "left behind: %d", &pid); err == nil {
		if child, err := os.FindProcess(pid); err == nil {
			child.Kill()
		}
	}
}

// Who misspells a test has not tested anything.
func TestPatternThatMatchesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		pattern string
		results []result
		refused bool
	}{
		"all":           {"", []result{{}}, false},
		"some":          {"TestX", []result{{}, {tests: []testTime{{test: "TestX"}}}}, false},
		"none":          {"TestX", []result{{}, {}}, true},
		"only a defect": {"TestX", []result{{err: errNoWorkspace}}, false},
	} {
		s := summary{results: c.results}
		if err := s.matched(c.pattern); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatDoesNotCompileFails(t *testing.T) {
	if r := (execution{}).one(t.Context(), job{}, t.TempDir()+"/missing.test"); r.err == nil {
		t.Error("a package without a binary passed")
	}
}

// A process is frozen for as long as told at most, runs in between, and is left running.
func TestStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, observed = time.Second, 1000 * time.Second
		var frozen time.Time
		var total time.Duration
		times := 0
		s := stalls{
			every: time.Second, most: most,
			freeze: func(*os.Process) error { frozen = time.Now(); times++; return nil },
			thaw: func(*os.Process) error {
				if time.Since(frozen) > most {
					t.Errorf("frozen for %v", time.Since(frozen))
				}
				total, frozen = total+time.Since(frozen), time.Time{}
				return nil
			},
		}
		end := s.on(nil)
		time.Sleep(observed)
		end()
		if !frozen.IsZero() || times < 100 || total < observed/10 || total > observed/2 {
			t.Errorf("frozen %d times, for %v of %v, and at the end since %v", times, total, observed, frozen)
		}
	})
}
