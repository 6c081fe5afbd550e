package tenure_test

import (
	"fmt"
	"go/parser"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// The root module serves whoever imports it: it moves no version in their go.mod, and works with the Go before the
// newest.
func TestRootModuleRequiresNothing(t *testing.T) {
	want := []string{"module " + modulePath, "go 1.25"}
	if got := directives(read(t, "go.mod")); !slices.Equal(got, want) {
		t.Errorf("the root go.mod says %q, but must say no more than %q", got, want)
	}
	if _, err := os.Stat("go.sum"); err == nil {
		t.Error("the root module has a go.sum, so something in it requires another module")
	}
}

func TestRootModuleImportsOnlyTheStandardLibrary(t *testing.T) {
	dirs := modules(t)
	checked := 0
	for _, name := range withSuffix(t, ".go") {
		if moduleOf(name, dirs) != "." || strings.Contains(name, "testdata/") {
			continue
		}
		checked++
		_, file := parse(t, name, parser.ImportsOnly)
		for _, spec := range file.Imports {
			imported := importPath(t, spec)
			first, _, _ := strings.Cut(imported, "/")
			if strings.Contains(first, ".") && imported != modulePath && !strings.HasPrefix(imported, modulePath+"/") {
				t.Errorf("%s imports %s; in the root module tests too use the standard library alone", name, imported)
			}
		}
	}
	if checked == 0 {
		t.Fatal("no file was checked")
	}
}

func TestWorkspaceHoldsEveryModule(t *testing.T) {
	var want []string
	for _, dir := range modules(t) {
		want = append(want, "./"+dir)
	}
	var got []string
	for _, line := range directives(read(t, "go.work")) {
		if dir, found := strings.CutPrefix(line, "use "); found {
			got = append(got, "./"+path.Clean(dir))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("go.work uses %q, but the modules are %q", got, want)
	}
}

// A module of this repository is known by the directory that it lives in.
func TestModulePathsFollowDirectories(t *testing.T) {
	for _, dir := range modules(t) {
		want := "module " + path.Join(modulePath, dir)
		if got := directives(read(t, path.Join(dir, "go.mod")))[0]; got != want {
			t.Errorf("%s/go.mod says %q, want %q", dir, got, want)
		}
	}
}

// CI tests the root module with the Go that its go.mod promises to work with.
func TestFloorIsTested(t *testing.T) {
	promised := strings.ReplaceAll(directives(read(t, "go.mod"))[1], " ", "")
	if want := "GO_FLOOR=" + promised + "."; !strings.Contains(read(t, ".ci/common.sh"), want) {
		t.Errorf("go.mod promises %s, but .ci/common.sh says no %s", promised, want)
	}
}

// directives returns the directives of a go.mod or go.work, one a line, blocks taken apart and comments removed.
func directives(text string) []string {
	var out []string
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case block == "" && words[len(words)-1] == "(":
			block = words[0]
		case words[0] == ")":
			block = ""
		default:
			out = append(out, strings.TrimSpace(fmt.Sprint(block, " ", strings.Join(words, " "))))
		}
	}
	return out
}
