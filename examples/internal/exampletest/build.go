// Package exampletest runs the examples as what they are, processes, and looks at what they leave behind. It is for
// tests alone.
package exampletest

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
)

// Tenure is the package of the command.
const Tenure = "github.com/tenure-go/tenure/cmd/tenure"

// M is what Main needs of a testing.M.
type M interface{ Run() int }

// parallel is how many tests run at once: what they wait for is leases that run out, and not the processor.
const parallel = "4"

// Main is for a TestMain. It removes what Build has built for the tests of the package.
func Main(m M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built are the programs of this test binary.
var built struct {
	mu  sync.Mutex
	dir string
}

// Build builds a command, given as go build wants it, once for all tests of a package that has Main, and returns the
// program's path.
func Build(tb TB, command string) string {
	tb.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "tenure-examples-")
		if err != nil {
			tb.Fatalf("%v", err)
		}
		built.dir = dir
	}
	name, err := filepath.Abs(command)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	program := filepath.Join(built.dir, filepath.Base(name))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	args := slices.Concat([]string{"build"}, race, []string{"-o", program, command})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		tb.Fatalf("go %q: %v\n%s", args, err, out)
	}
	return program
}
