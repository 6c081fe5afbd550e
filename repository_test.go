package tenure_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the repository that a machine can check; CONTRIBUTING.md states them. They look at the tree as it is
// checked out, and are skipped where only the root module is, as in a module cache.

const modulePath = "github.com/tenure-go/tenure"

// notOurs are directories that the tools leave behind.
var notOurs = []string{".git", ".cache", "bin", "dist"}

// tree returns the slash-separated paths of all files of the repository.
func tree(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat("cmd"); err != nil {
		t.Skip("not a checkout of the repository: there is no cmd directory")
	}
	var files []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(notOurs, filepath.ToSlash(name)):
			return filepath.SkipDir
		case d.Type().IsRegular():
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// withSuffix returns the files of the repository whose names end so.
func withSuffix(t *testing.T, suffix string) []string {
	t.Helper()
	return slices.DeleteFunc(tree(t), func(name string) bool { return !strings.HasSuffix(name, suffix) })
}

// modules returns the directories of the repository's modules.
func modules(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, name := range withSuffix(t, "go.mod") {
		if path.Base(name) == "go.mod" {
			dirs = append(dirs, path.Dir(name))
		}
	}
	return dirs
}

// moduleOf returns the module, out of dirs, that a file belongs to.
func moduleOf(name string, dirs []string) string {
	best := "."
	for _, dir := range dirs {
		if strings.HasPrefix(name, dir+"/") && len(dir) > len(best) {
			best = dir
		}
	}
	return best
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t *testing.T, name string, mode parser.Mode) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, mode)
	if err != nil {
		t.Fatal(err)
	}
	return fset, file
}

func importPath(t *testing.T, spec *ast.ImportSpec) string {
	t.Helper()
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		t.Fatal(err)
	}
	return imported
}

// traces are what a file says about the machine that it was written on. The patterns are put together from pieces so
// that they do not match themselves.
var traces = map[string]*regexp.Regexp{
	"a directory of somebody's machine": regexp.MustCompile(`(^|[\s"'=(:` + "`" + `])/(home|Users|root|work)/\w`),
	"a host of a package registry": regexp.MustCompile(
		`(proxy|sum)\.` + `golang\.org|registry\.` + `npmjs\.|deb\.` + `debian\.org|pypi\.` + `org`),
	"a private key or an access key": regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE ` + `KEY|AKIA[0-9A-Z]{16}`),
}

func TestFilesTellNothingOfTheirMachine(t *testing.T) {
	for _, name := range tree(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			continue // no text
		}
		for i, line := range strings.Split(string(text), "\n") {
			for what, trace := range traces {
				if trace.MatchString(line) {
					t.Errorf("%s:%d names %s: %s", name, i+1, what, strings.TrimSpace(line))
				}
			}
		}
	}
}

// pureImports are what the protocol may use: nothing that reads a clock, makes a call or waits.
var pureImports = []string{"errors", "fmt", "math", "math/rand/v2", "slices", "time", modulePath + "/internal/clock"}

// pureNames are what it may use of packages that also hold something impure.
var pureNames = map[string][]string{
	"clock": {"Reading"},
	"fmt":   {"Errorf", "Sprintf"},
	"rand":  {"New", "Rand", "Source"}, // not the global functions, which no seed replays
	"time":  {"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"},
}

func TestProtocolIsPure(t *testing.T) {
	checked := 0
	for _, name := range withSuffix(t, ".go") {
		if path.Dir(name) != "internal/protocol" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		checked++
		fset, file := parse(t, name, parser.SkipObjectResolution)
		for _, spec := range file.Imports {
			if imported := importPath(t, spec); !slices.Contains(pureImports, imported) {
				t.Errorf("%s imports %s; time and everything else come into the protocol as inputs", name, imported)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if what := impurity(n); what != "" {
				t.Errorf("%v: %s in the protocol, which has no clock, makes no calls and starts no goroutine",
					fset.Position(n.Pos()), what)
			}
			return true
		})
	}
	if checked == 0 {
		t.Fatal("there is no protocol to check")
	}
}

func impurity(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
		return "a channel"
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		if pure, limited := pureNames[pkg.Name]; limited && !slices.Contains(pure, n.Sel.Name) {
			return pkg.Name + "." + n.Sel.Name
		}
	}
	return ""
}
