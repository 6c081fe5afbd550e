package tenure_test

import (
	"go/ast"
	"go/parser"
	"path"
	"strings"
	"testing"
)

// Every package says what it is for, in one place.
func TestPackagesHaveComments(t *testing.T) {
	type doc struct{ name, first, file string }
	packages := map[string]doc{}
	for _, name := range sources(t) {
		_, file := parse(t, name, parser.PackageClauseOnly|parser.ParseComments)
		dir := path.Dir(name)
		d := packages[dir]
		d.name = file.Name.Name
		if file.Doc != nil {
			if d.file != "" {
				t.Errorf("%s and %s both have a package comment", d.file, name)
			}
			d.first, d.file = file.Doc.Text(), name
		}
		packages[dir] = d
	}
	if len(packages) == 0 {
		t.Fatal("no package was checked")
	}
	for dir, d := range packages {
		want := "Package " + d.name + " "
		if d.name == "main" {
			want = "Command " + path.Base(dir) + " " // named by the directory, as the installed file is
		}
		if !strings.HasPrefix(d.first, want) {
			t.Errorf("the comment of the package in %s must begin with %q, but begins with %.40q", dir, want, d.first)
		}
	}
}

// Every exported constant and variable has a comment, of its own or as part of a list that has one; of functions and
// types the linters see to it.
func TestExportedValuesHaveComments(t *testing.T) {
	for _, name := range sources(t) {
		fset, file := parse(t, name, parser.ParseComments|parser.SkipObjectResolution)
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			documented := group.Doc != nil
			for _, spec := range group.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				// A value that follows a commented one belongs to the same comment.
				documented = documented || value.Doc != nil || value.Comment != nil
				for _, ident := range value.Names {
					if ident.IsExported() && !documented {
						t.Errorf("%v: %s has no comment", fset.Position(ident.Pos()), ident.Name)
					}
				}
			}
		}
	}
}

// sources returns the Go files of the repository that are no tests.
func sources(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range withSuffix(t, ".go") {
		if !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata/") {
			out = append(out, name)
		}
	}
	return out
}
