package tenure_test

import (
	"errors"
	"go/ast"
	"go/parser"
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

func stderr(err error) []byte {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}
