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
	"regexp"
	"strings"
	"testing"
)

// link matches a link or an image of Markdown: [text](target).
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksInDocumentsResolve(t *testing.T) {
	checked := 0
	for _, name := range withSuffix(t, ".md") {
		prose := codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(read(t, name), "\n"), "")
		for _, match := range link.FindAllStringSubmatch(prose, -1) {
			target := match[1]
			if strings.Contains(target, "://") {
				continue // the network is not asked
			}
			checked++
			file, anchor, _ := strings.Cut(target, "#")
			if file == "" {
				file = path.Base(name)
			}
			file = path.Join(path.Dir(name), file)
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", name, target)
				continue
			}
			if anchor != "" && !anchors(read(t, file))[anchor] {
				t.Errorf("%s links to %s, but %s has no such heading", name, target, file)
			}
		}
	}
	if checked == 0 {
		t.Fatal("no link was found")
	}
}

// named matches the names of tests and of Go files in the documents.
var named = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9_]*|[a-z0-9_/]+\\.go)`")

// Documents name tests and files, which move.
func TestNamesInDocumentsExist(t *testing.T) {
	exists := map[string]bool{}
	for _, name := range withSuffix(t, ".go") {
		exists[name], exists[path.Base(name)] = true, true
		if strings.HasSuffix(name, "_test.go") {
			_, file := parse(t, name, parser.SkipObjectResolution)
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok {
					exists[f.Name.Name] = true
				}
			}
		}
	}
	checked := 0
	for _, name := range withSuffix(t, ".md") {
		for _, match := range named.FindAllStringSubmatch(read(t, name), -1) {
			checked++
			if !exists[match[1]] {
				t.Errorf("%s speaks of %s, which is not there", name, match[1])
			}
		}
	}
	if checked == 0 {
		t.Fatal("no name was found")
	}
}

// anchors returns the fragments by which the headings of a document can be linked to.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(codeBlock.ReplaceAllString(text, "\n")) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(title)))
		out[anchor] = true
	}
	return out
}

// codeBlock and codeSpan match code in Markdown, in which a link is none.
var (
	codeBlock = regexp.MustCompile("(?s)\n```.*?\n```\n")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
)

// goBlock matches a block of Go in Markdown.
var goBlock = regexp.MustCompile("(?s)\n```go\n(.*?\n)```\n")

// What the documents show of Go compiles: whole files, declarations, and statements that may use the parameters of the
// function in excerpt. Only "declared and not used" is forgiven, which an excerpt cannot help.
func TestGoInDocumentsCompiles(t *testing.T) {
	std := standardExports(t)
	checked := 0
	for _, name := range withSuffix(t, ".md") {
		text := read(t, name)
		blocks := goBlock.FindAllStringSubmatch(text, -1)
		if shown := strings.Count(text, "```go"); shown != len(blocks) {
			t.Errorf("%s opens %d blocks of Go, of which %d were found", name, shown, len(blocks))
		}
		for _, match := range blocks {
			checked++
			for _, problem := range compile(std, match[1]) {
				t.Errorf("%s shows Go that does not compile: %s\n%s", name, problem, match[1])
			}
		}
	}
	if checked == 0 {
		t.Fatal("no Go was found")
	}
}

// shown are the packages that excerpts may use without importing them.
var shown = []string{
	"context", "database/sql", "errors", "fmt", "log", "log/slog", "net/http", "os", "os/signal", "sync", "syscall",
	"testing", "testing/synctest", "time",
	modulePath, modulePath + "/file", modulePath + "/memory", modulePath + "/tenuretest",
}

// excerpt makes a file of an excerpt.
func excerpt(code string) (*token.FileSet, *ast.File, error) {
	prelude := "package excerpt\n"
	for _, imported := range shown {
		prelude += fmt.Sprintf("import %q\n", imported)
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
func compile(imports types.Importer, code string) []string {
	fset, file, err := excerpt(code)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	config := types.Config{Importer: imports, Error: func(err error) {
		if e := (types.Error{}); errors.As(err, &e) && e.Soft {
			return // not used
		}
		problems = append(problems, err.Error())
	}}
	_, _ = config.Check("excerpt", fset, []*ast.File{file}, nil) // its error is the first of those collected
	return problems
}

// standardExports returns an importer that takes packages as the go command has compiled them.
func standardExports(t *testing.T) types.Importer {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, shown...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr(err))
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		imported, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[imported] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(imported string) (io.ReadCloser, error) {
		text, err := os.ReadFile(exports[imported])
		return io.NopCloser(bytes.NewReader(text)), err
	})
}

func stderr(err error) []byte {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}
