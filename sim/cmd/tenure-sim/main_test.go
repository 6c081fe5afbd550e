package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// call runs the command.
func call(args ...string) (status int, stdout, stderr string) {
	var out, problems bytes.Buffer
	status = exec(args, &out, &problems)
	return status, out.String(), problems.String()
}

func TestTraceReplaysByteForByte(t *testing.T) {
	_, first, _ := call("-seed", "7", "-trace")
	_, second, _ := call("-seed", "7", "-trace")
	if first != second || !strings.Contains(first, "elected") || !strings.Contains(first, "seed 7: hash ") {
		t.Errorf("two traces of one seed have %d and %d bytes", len(first), len(second))
	}
	if _, other, _ := call("-seed", "8", "-trace"); other == first {
		t.Error("two seeds have one trace")
	}
}

// Histories beyond the promise fail: the report has to tell how to see what happened.
func TestFailureTellsHowToReplayIt(t *testing.T) {
	t.Chdir(t.TempDir())
	status, _, stderr := call("-kind", "beyond", "-histories", "5000")
	command := regexp.MustCompile(`seed (\d+) failed; replay it: go run \./sim/cmd/tenure-sim -kind beyond -seed (\d+) -trace`)
	found := command.FindStringSubmatch(stderr)
	if status != 1 || found == nil || found[1] != found[2] {
		t.Fatalf("status %d: %s", status, stderr)
	}
	page, err := os.ReadFile("sim-" + found[1] + ".html")
	if err != nil || !bytes.Contains(page, []byte("S1 broken")) {
		t.Errorf("no timeline of the failure: %v", err)
	}
	if status, out, _ := call("-kind", "beyond", "-seed", found[1], "-trace"); status != 1 || !strings.Contains(out, "VIOLATION") {
		t.Errorf("replayed, the history does not fail: status %d", status)
	}
}

func TestExpectedRulesHaveToBeBroken(t *testing.T) {
	if status, out, _ := call("-kind", "beyond", "-expect", "S1", "-histories", "5000"); status != 0 || !strings.Contains(out, "S1 broken by seed") {
		t.Errorf("S1 beyond the bound: status %d, %s", status, out)
	}
	if status, _, problems := call("-expect", "S1,S5", "-histories", "20"); status != 1 || !strings.Contains(problems, "not broken: S1, S5") {
		t.Errorf("S1 and S5 within the bound: status %d, %s", status, problems)
	}
}

func TestTimelineIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	if status, _, stderr := call("-seed", "3", "-html", file); status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if page, err := os.ReadFile(file); err != nil || !bytes.Contains(page, []byte("prefers-color-scheme: dark")) {
		t.Errorf("%d bytes, %v", len(page), err)
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-kind", "nonsense"}, {"-expect", "S99"}, {"-workers", "0"}, {"-histories", "-1"}, {"-for", "-1s"}, {"extra"}, {"-nonsense"},
	} {
		if status, _, stderr := call(args...); status != 2 || stderr == "" {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
}
