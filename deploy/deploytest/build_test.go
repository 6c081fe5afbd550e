package deploytest

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

// buildLine is the line by which the Dockerfile builds the command.
func buildLine(t *testing.T) string {
	t.Helper()
	stage, _, _ := readDockerfile(t)
	runs := commands[*instructions.RunCommand](stage)
	if len(runs) != 1 || !strings.Contains(strings.Join(runs[0].CmdLine, " "), "go build -trimpath ") {
		t.Fatalf("got %v", runs)
	}
	return strings.Join(runs[0].CmdLine, " ")
}

// build runs that line in the root of the repository, but for where the result goes, and without -trimpath: that changes
// the paths in panics alone, and with it nothing of what other tests have compiled could be used.
func build(t *testing.T) (string, error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "deploytest-")
	if err != nil {
		return "", err
	}
	line := strings.NewReplacer("-trimpath ", "", "/out/", dir+"/").Replace(buildLine(t))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w\n%s", line, err, out), os.RemoveAll(dir))
	}
	return filepath.Join(dir, "tenure"), nil
}

// TestBinaryIsStatic: an image that has nothing else has no loader and no libraries.
func TestBinaryIsStatic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the image is one of Linux")
	}
	file, err := elf.Open(command(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it has a %v", p.Type)
		}
	}
	if libraries, err := file.ImportedLibraries(); err == nil && len(libraries) > 0 {
		t.Errorf("it wants %q", libraries)
	}
}
