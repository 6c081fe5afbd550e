package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// generator walks through one declaration and collects its mutants.
type generator struct {
	pkg   *pkg
	file  *file
	name  string         // of the declaration
	count map[string]int // of the mutants, by operator
	stack []ast.Node     // from the declaration to the present node
	out   []*mutant
}

// texts are methods that only make texts for people.
var texts = []string{"String", "GoString", "Error", "Format", "LogValue"}

// mutants returns all mutants of a package, except those in files that are left out, in the order of the source.
func (p *pkg) mutants(leftOut []string) []*mutant {
	var all []*mutant
	for _, f := range p.files {
		if slices.Contains(leftOut, f.name) {
			continue
		}
		for _, decl := range f.ast.Decls {
			all = append(all, p.ofDecl(f, decl)...)
		}
	}
	return all
}

func (p *pkg) ofDecl(f *file, decl ast.Decl) []*mutant {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if slices.Contains(texts, d.Name.Name) {
			return nil
		}
		return p.ofNode(f, d, functionName(d))
	case *ast.GenDecl:
		var all []*mutant
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				all = append(all, p.ofNode(f, v, v.Names[0].Name)...)
			}
		}
		return all
	}
	return nil
}

// functionName names the receiver too: a file may have two methods of one name.
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	receiver := types.ExprString(d.Recv.List[0].Type)
	receiver, _, _ = strings.Cut(strings.TrimPrefix(receiver, "*"), "[")
	return receiver + "." + d.Name.Name
}

func (p *pkg) ofNode(f *file, root ast.Node, name string) []*mutant {
	g := &generator{pkg: p, file: f, name: name, count: map[string]int{}}
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			g.stack = g.stack[:len(g.stack)-1]
			return true
		}
		g.stack = append(g.stack, n)
		g.expression(n)
		g.statement(n)
		return true
	})
	return g.out
}

// parent returns the i-th node above the present one, nil if there is none.
func (g *generator) parent(i int) ast.Node {
	if n := len(g.stack) - 1 - i; n >= 0 {
		return g.stack[n]
	}
	return nil
}

// add adds a mutant that replaces the source between two positions.
func (g *generator) add(operator string, from, to token.Pos, with string) {
	g.addAt(g.executed(), operator, from, to, with)
}

// addAt is for what matters only if the source at a certain position is executed.
func (g *generator) addAt(site token.Pos, operator string, from, to token.Pos, with string) {
	g.count[operator]++
	g.out = append(g.out, &mutant{
		name: fmt.Sprintf("%s:%s#%d %s", g.file.name, g.name, g.count[operator], operator),
		pkg:  g.pkg, file: g.file, from: g.offset(from), to: g.offset(to), with: with, site: g.pkg.fset.Position(site),
	})
}

// replace adds a mutant with another text for a node.
func (g *generator) replace(operator string, n ast.Node, with string) {
	g.add(operator, n.Pos(), n.End(), with)
}

func (g *generator) offset(p token.Pos) int { return g.pkg.fset.Position(p).Offset }

// source is the text of a node.
func (g *generator) source(n ast.Node) string {
	return string(g.file.text[g.offset(n.Pos()):g.offset(n.End())])
}

// executed is the beginning of the innermost statement around the present node. Of a case that is the whole switch,
// which is what the coverage of Go counts for its condition.
func (g *generator) executed() token.Pos {
	for i := len(g.stack) - 1; i >= 0; i-- {
		switch n := g.stack[i].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		case ast.Stmt:
			return n.Pos()
		}
	}
	return g.stack[0].Pos()
}

// swap adds a mutant with another operator in an expression.
func (g *generator) swap(operator string, at token.Pos, old, with token.Token) {
	g.add(operator, at, at+token.Pos(len(old.String())), with.String())
}

// cutFrom returns what has to be cut out of a list so that its i-th element is gone.
func cutFrom[N ast.Node](list []N, i int) (from, to token.Pos) {
	switch {
	case i+1 < len(list):
		return list[i].Pos(), list[i+1].Pos()
	case i > 0:
		return list[i-1].End(), list[i].End()
	}
	return list[i].Pos(), list[i].End()
}
