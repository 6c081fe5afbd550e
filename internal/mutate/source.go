package main

import (
	"bytes"
	"context"
	"encoding/json"
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
	"slices"
)

// pkg is a package whose source is changed.
type pkg struct {
	path    string // by which it is imported
	dir     string // relative to the root, with slashes; "." is the root
	fset    *token.FileSet
	files   []*file
	info    *types.Info
	imports imports
}

// file is one of its files; tests are none.
type file struct {
	name string // relative to the root, with slashes
	abs  string
	text []byte
	ast  *ast.File
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// load reads packages and checks that they compile.
func load(ctx context.Context, root string, dirs []string) ([]*pkg, error) {
	all, err := list(ctx, root, dirs)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	var pkgs []*pkg
	for _, l := range all {
		dir, err := filepath.Rel(root, l.Dir)
		if err != nil || !slices.Contains(dirs, filepath.ToSlash(dir)) {
			continue
		}
		p := &pkg{path: l.ImportPath, dir: filepath.ToSlash(dir), fset: token.NewFileSet(), imports: imports{}}
		if err := p.read(l, exports); err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < len(dirs) {
		return nil, fmt.Errorf("of the packages in %v only %d are below %s: run it at the root of the repository", dirs,
			len(pkgs), root)
	}
	return pkgs, nil
}

// list asks for packages and all that they import, compiled.
func list(ctx context.Context, root string, dirs []string) ([]listed, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, dir := range dirs {
		args = append(args, "./"+dir)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var l listed
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, l)
	}
}

func (p *pkg) read(l listed, exports map[string]string) error {
	for _, name := range l.GoFiles {
		f := &file{name: path.Join(p.dir, name), abs: filepath.Join(l.Dir, name)}
		var err error
		if f.text, err = os.ReadFile(f.abs); err != nil {
			return err
		}
		if f.ast, err = parser.ParseFile(p.fset, f.abs, f.text, parser.SkipObjectResolution); err != nil {
			return err
		}
		p.files = append(p.files, f)
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	compiled := importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	checked, err := p.check(compiled, p.trees(nil, nil), p.info)
	if err != nil {
		return fmt.Errorf("%s does not compile: %w", p.dir, err)
	}
	for _, imported := range checked.Imports() {
		p.imports[imported.Path()] = imported
	}
	return nil
}

// imports are packages that were read already, which several goroutines may use.
type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	if p, ok := i[path]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not imported before", path)
}

func (p *pkg) check(from types.Importer, trees []*ast.File, info *types.Info) (*types.Package, error) {
	config := types.Config{Importer: from}
	return config.Check(p.path, p.fset, trees, info)
}

// trees returns the files, with one in the place of another.
func (p *pkg) trees(of *file, changed *ast.File) []*ast.File {
	var out []*ast.File
	for _, f := range p.files {
		if f == of {
			out = append(out, changed)
		} else {
			out = append(out, f.ast)
		}
	}
	return out
}
