package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tenure-go/tenure/cmd/tenure/internal/democmd"
	"github.com/tenure-go/tenure/cmd/tenure/internal/ending"
)

// roleVariable makes the test binary, started again, the program.
const roleVariable = "TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "demo" {
		main()
	}
	os.Exit(m.Run())
}

// TestDemo runs the program as a user does.
func TestDemo(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	cmd := osexec.Command(os.Args[0], "--for", "500ms", "--ttl", "10s", "--faults", "resign")
	cmd.Env = append(os.Environ(), roleVariable+"=demo", "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "resign") || !strings.Contains(text, "overlaps found") {
		t.Errorf("%v: %s", err, text)
	}
	left, err := filepath.Glob(filepath.Join(temp, "*"))
	if err != nil || len(left) != 1 || !strings.Contains(string(out), "timeline: "+left[0]) {
		t.Errorf("left behind is %q, want the timeline alone: %v", left, err)
	}
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--nodes", "0"}, {"--faults", "explode"}, {"everything"}, {"--store", "file:x"}, {"demo-node"}} {
		var out, stderr bytes.Buffer
		code := conclude(&stderr, exec(t.Context(), args, strings.NewReader(""), &out))
		if code != failed || out.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: exit code %d, output %q, error %q", args, code, out.String(), stderr.String())
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		code int
		text string
	}{
		{nil, 0, ""},
		{ending.Signal(syscall.SIGINT), 130, ""},
		{democmd.ErrBroken, 1, "demo: the demo found a rule broken\n"},
		{errors.New("no"), 125, "demo: no\n"},
	} {
		var stderr bytes.Buffer
		if code := conclude(&stderr, test.err); code != test.code || stderr.String() != test.text {
			t.Errorf("%v: got %d and %q, want %d and %q", test.err, code, stderr.String(), test.code, test.text)
		}
	}
}

// ours are the modules that the program may consist of, besides the standard library.
var ours = []string{
	"github.com/tenure-go/tenure", "github.com/tenure-go/tenure/cmd/tenure",
	"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/inconshreveable/mousetrap",
	"golang.org/x/sys", "golang.org/x/term",
}

// TestCompilesInSeconds keeps out what takes long to compile: clients of servers, and the packages that those bring.
func TestCompilesInSeconds(t *testing.T) {
	t.Parallel()
	list := osexec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", ".")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		var name, module string
		_, _ = fmt.Sscan(line, &name, &module) // a package of the standard library has no module
		packages++
		if module != "" && !slices.Contains(ours, module) || name == "net/http" || name == "crypto/tls" {
			t.Errorf("the demo now needs %s", line)
		}
	}
	if packages < 50 {
		t.Errorf("go list names %d packages, which cannot be all", packages)
	}
}
