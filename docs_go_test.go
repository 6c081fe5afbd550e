package tenure_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goBlock matches a block of Go in Markdown.
var goBlock = regexp.MustCompile("(?s)\n```go\n(.*?\n)```\n")

// What the documents show of Go compiles: whole files, declarations, and statements that may use the parameters of the
// function in excerpt. Only "declared and not used" is forgiven, which an excerpt cannot help. What stands in another
// module of the workspace may use what the examples beside it import, under the same names.
func TestGoInDocumentsCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("left to make test-all: it compiles the clients of all stores")
	}
	checked, inWorkspace := 0, workspace(t)
	dirs := modules(t)
	var here *shelf
	for _, name := range withSuffix(t, ".md") {
		text := read(t, name)
		blocks := goBlock.FindAllStringSubmatch(text, -1)
		if shown := strings.Count(text, "```go"); shown != len(blocks) {
			t.Errorf("%s opens %d blocks of Go, of which %d were found", name, shown, len(blocks))
		}
		if len(blocks) == 0 {
			continue
		}
		shelf := here
		switch dir := path.Dir(name); {
		case moduleOf(name, dirs) != ".":
			if !inWorkspace {
				continue // its requirements cannot be had
			}
			shelf = newShelf(t, dir, append(slices.Clone(shown), exampleImports(t, dir)...))
		case here == nil:
			here = newShelf(t, ".", shown)
			shelf = here
		}
		for _, match := range blocks {
			checked++
			if quotes(t, name, text, match[1]) {
				continue
			}
			for _, problem := range shelf.compile(match[1]) {
				t.Errorf("%s shows Go that does not compile: %s\n%s", name, problem, match[1])
			}
		}
	}
	if checked == 0 {
		t.Fatal("no Go was found")
	}
}

// goLink matches a link to a Go file.
var goLink = regexp.MustCompile(`\]\(([^)\s]+\.go)\)`)

// quotes reports whether an excerpt stands, as it is, in a Go file that the document links to. Then it compiles there.
func quotes(t *testing.T, name, text, excerpt string) bool {
	t.Helper()
	for _, match := range goLink.FindAllStringSubmatch(text, -1) {
		file := path.Join(path.Dir(name), match[1])
		if _, err := os.Stat(file); err == nil && quotesAll(read(t, file), excerpt) {
			return true
		}
	}
	return false
}

// quotesAll reports whether a file has all the declarations of an excerpt, though perhaps not one after the other.
func quotesAll(file, excerpt string) bool {
	for declaration := range strings.SplitSeq(excerpt, "\n}\n") {
		if !strings.Contains(file, strings.Trim(declaration, "\n")) {
			return false
		}
	}
	return true
}

// workspace reports whether the other modules can be built here.
func workspace(t *testing.T) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOWORK").Output()
	if err != nil {
		t.Fatalf("go env: %v\n%s", err, stderr(err))
	}
	file := strings.TrimSpace(string(out))
	return file != "" && file != "off"
}

// shown are the packages that excerpts may use without importing them, as import declarations have them.
var shown = quoted(
	"context", "database/sql", "errors", "fmt", "log", "log/slog", "net/http", "os", "os/signal", "sync", "syscall",
	"testing", "testing/synctest", "time",
	modulePath, modulePath+"/fence", modulePath+"/file", modulePath+"/leaderhttp", modulePath+"/memory",
	modulePath+"/sqlstore", modulePath+"/tenuretest",
)

func quoted(paths ...string) []string {
	for i, p := range paths {
		paths[i] = fmt.Sprintf("%q", p)
	}
	return paths
}

// exampleImports returns what the example files in a directory import, with the names that they give.
func exampleImports(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "example*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var specs []string
	for _, name := range files {
		_, file := parse(t, name, parser.ImportsOnly)
		for _, spec := range file.Imports {
			text := spec.Path.Value
			if spec.Name != nil {
				text = spec.Name.Name + " " + text
			}
			if !slices.Contains(shown, spec.Path.Value) && !slices.Contains(specs, text) {
				specs = append(specs, text)
			}
		}
	}
	return specs
}

// shelf holds the packages that the excerpts of a document may use.
type shelf struct {
	specs    []string
	importer types.Importer
}

// newShelf takes packages as the go command has compiled them.
func newShelf(t *testing.T, dir string, specs []string) *shelf {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}
	for _, spec := range specs {
		_, imported, _ := strings.Cut(spec, `"`)
		args = append(args, strings.TrimSuffix(imported, `"`))
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", dir, err, stderr(err))
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		imported, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[imported] = file
	}
	open := func(imported string) (io.ReadCloser, error) {
		text, err := os.ReadFile(exports[imported])
		return io.NopCloser(bytes.NewReader(text)), err
	}
	return &shelf{specs, importer.ForCompiler(token.NewFileSet(), "gc", open)}
}

// parse makes a file of an excerpt.
func (s *shelf) parse(code string) (*token.FileSet, *ast.File, error) {
	prelude := "package excerpt\n"
	for _, spec := range s.specs {
		prelude += "import " + spec + "\n"
	}
	prelude += "var mystore struct{ Open func(dir string) (*memory.Store, error) }\n" // the reader's own
	const inside = "func _(ctx context.Context, store tenure.Store, c *tenure.Candidate, term tenure.Term, " +
		"work func(ctx context.Context, token uint64) error, db *sql.DB, id int) {\n{\n"
	var first error
	for _, source := range []string{code, prelude + code, prelude + inside + code + "}\n}\n"} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "excerpt.go", source, parser.SkipObjectResolution)
		if err == nil {
			return fset, file, nil
		}
		first = err // the last form accepts the most, and its complaint says the most
	}
	return nil, nil, first
}

// compile returns what is wrong with an excerpt.
func (s *shelf) compile(code string) []string {
	fset, file, err := s.parse(code)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	config := types.Config{Importer: s.importer, Error: func(err error) {
		if e := (types.Error{}); errors.As(err, &e) && e.Soft {
			return // not used
		}
		problems = append(problems, err.Error())
	}}
	_, _ = config.Check("excerpt", fset, []*ast.File{file}, nil) // its error is the first of those collected
	return problems
}
