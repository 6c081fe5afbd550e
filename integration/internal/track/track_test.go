package track

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	root   = "../../.."
	record = "../../TRACK-RECORD.md"
)

var update = flag.Bool("update", false, "write the table into the document")

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of the time is spent waiting for what a bug prevents, and not by a processor.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// brought returns an overlay with which the bug is back.
func (b Bug) brought(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(root, b.Module, b.File))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), b.Old); n != 1 {
		t.Fatalf("%s has %d times what the bug replaces, want 1:\n%s", b.File, n, b.Old)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, what := range map[string]string{
		changed: strings.Replace(string(text), b.Old, b.New, 1), overlay: string(replaced),
	} {
		if err := os.WriteFile(name, []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// The old bug put back must be caught, and by the test that the record names.
func TestOldBugsAreCaught(t *testing.T) {
	for _, b := range Bugs {
		t.Run(b.Test, func(t *testing.T) {
			t.Parallel()
			overlay := b.brought(t)
			if testing.Short() {
				t.Skip("short: that the bug can be put back is all that is looked at")
			}
			out, err := b.test(t, overlay)
			switch text := string(out); {
			case strings.Contains(text, "--- SKIP: "+b.Test):
				t.Skipf("the test needs what is not here:\n%s", text)
			case err == nil || !strings.Contains(text, "--- FAIL: "+b.Test):
				t.Errorf("with the bug put back the test did not fail: %v\n%s", err, text)
			}
		})
	}
}

// test runs the test that has to fail. What it is compiled from may have to be compiled first, which is not counted: a
// test that was ended before it could fail has caught nothing.
func (b Bug) test(t *testing.T, overlay string) (out []byte, err error) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bug.test")
	compile := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, "-overlay", overlay, "./"+b.Package)
	compile.Dir = filepath.Join(root, b.Module)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("the old bug does not compile: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, binary, "-test.v", "-test.run", "^"+b.Test+"$")
	run.Dir = filepath.Join(root, b.Module, b.Package)
	return run.CombinedOutput()
}

// Of one row the record knows everything.
func TestRowsAreWhole(t *testing.T) {
	for _, b := range Bugs {
		if b.Text == "" || b.FoundBy == "" || b.Old == b.New || strings.Contains(b.Text, "|") {
			t.Errorf("%+v", b)
		}
	}
	if len(Bugs) == 0 {
		t.Error("there are no rows")
	}
}

const (
	begin = "<!-- The table is that of internal/track, written by its test with -update; do not edit it. -->\n\n"
	end   = "\n<!-- The table ends here. -->\n"
)

func TestTheDocumentHasTheRecord(t *testing.T) {
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	old, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the document has no lines that say where the table is")
	}
	want := table(Bugs)
	if *update && old != want {
		if err := os.WriteFile(record, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != want {
		t.Error("the table in the document is not that of this package; run go test ./integration/internal/track -update")
	}
}
