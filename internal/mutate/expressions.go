package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// expression adds the mutants that change what is computed.
func (g *generator) expression(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		g.binary(n)
	case *ast.CallExpr:
		g.minMax(n)
	case *ast.CompositeLit:
		g.fields(n)
	case *ast.IfStmt:
		g.negate(n.Cond)
	case *ast.ForStmt:
		g.negate(n.Cond)
	case *ast.CaseClause:
		g.caseConditions(n)
	case *ast.ReturnStmt:
		g.returned(n)
	}
}

// swapped are the operators that take each other's place.
var swapped = map[token.Token]struct {
	operator string
	with     token.Token
}{
	token.LSS:  {"swap-boundary", token.LEQ},
	token.LEQ:  {"swap-boundary", token.LSS},
	token.GTR:  {"swap-boundary", token.GEQ},
	token.GEQ:  {"swap-boundary", token.GTR},
	token.EQL:  {"swap-equality", token.NEQ},
	token.NEQ:  {"swap-equality", token.EQL},
	token.LAND: {"swap-logic", token.LOR},
	token.LOR:  {"swap-logic", token.LAND},
	token.ADD:  {"swap-sign", token.SUB},
	token.SUB:  {"swap-sign", token.ADD},
}

func (g *generator) binary(n *ast.BinaryExpr) {
	if s, ok := swapped[n.Op]; ok && !g.sameAnyway(n) {
		g.swap(s.operator, n.OpPos, n.Op, s.with)
	}
	switch n.Op {
	case token.LAND, token.LOR:
		g.negate(n.X)
		g.negate(n.Y)
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		g.constant(n, n.X, n.Y)
		g.constant(n, n.Y, n.X)
	}
}

// sameAnyway reports whether the swap of an operator is not worth a try: texts cannot be subtracted, and where a bound
// is what the value is set to it does not matter on which side of the comparison it falls.
func (g *generator) sameAnyway(n *ast.BinaryExpr) bool {
	switch n.Op {
	case token.ADD:
		return !g.numeric(n)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return g.clamps(n)
	}
	return false
}

// clamps recognizes if a > b { a = b }.
func (g *generator) clamps(n *ast.BinaryExpr) bool {
	when, ok := g.parent(1).(*ast.IfStmt)
	if !ok || when.Cond != n || len(when.Body.List) != 1 {
		return false
	}
	set, ok := when.Body.List[0].(*ast.AssignStmt)
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return false
	}
	a, b, left, right := g.source(n.X), g.source(n.Y), g.source(set.Lhs[0]), g.source(set.Rhs[0])
	return a == left && b == right || a == right && b == left
}

func (g *generator) numeric(e ast.Expr) bool {
	t := g.pkg.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// negate adds the opposite of a condition, unless it is made of others, which have mutants of their own.
func (g *generator) negate(e ast.Expr) {
	switch n := ast.Unparen(e).(type) {
	case nil:
	case *ast.BinaryExpr:
		switch n.Op {
		case token.LAND, token.LOR, token.EQL, token.NEQ:
		default:
			g.replace("negate-condition", e, "!("+g.source(n)+")")
		}
	case *ast.UnaryExpr:
		g.replace("negate-condition", e, g.source(n.X))
	default:
		g.replace("negate-condition", e, "!"+g.source(e))
	}
}

// caseConditions negates the conditions of a switch that has nothing to compare them with.
func (g *generator) caseConditions(n *ast.CaseClause) {
	if s, ok := g.parent(2).(*ast.SwitchStmt); ok && s.Tag == nil {
		for _, e := range n.List {
			g.negate(e)
		}
	}
}

var otherBound = map[string]string{"min": "max", "max": "min", "Min": "Max", "Max": "Min"}

// minMax swaps the language's own min and max, and those of package math.
func (g *generator) minMax(n *ast.CallExpr) {
	name, _ := n.Fun.(*ast.Ident)
	if s, ok := n.Fun.(*ast.SelectorExpr); ok {
		name = s.Sel
	}
	if name == nil || otherBound[name.Name] == "" || len(n.Args) < 2 {
		return
	}
	of := g.pkg.info.Uses[name]
	if _, builtin := of.(*types.Builtin); builtin || of != nil && of.Pkg() != nil && of.Pkg().Path() == "math" {
		g.replace("swap-min-max", name, otherBound[name.Name])
	}
}

// constant changes a number in arithmetic. Where it divides, what is not divided at all; a little more or less of a
// tenth is nobody's concern. Nor is a little more of a unit of time, so that there only nothing takes its place.
func (g *generator) constant(n *ast.BinaryExpr, e, other ast.Expr) {
	literal, ok := ast.Unparen(e).(*ast.BasicLit)
	if !ok || literal.Kind != token.INT && literal.Kind != token.FLOAT {
		return
	}
	value, _ := constant.Float64Val(g.pkg.info.Types[literal].Value)
	next := strconv.FormatFloat(value+1, 'g', -1, 64)
	switch {
	case n.Op == token.QUO && value != 1:
		g.replace("change-constant", literal, "1")
	case n.Op == token.MUL:
		g.replace("change-constant", literal, "0")
		if !isUnit(other) {
			g.replace("change-constant", literal, next)
		}
	default:
		g.replace("change-constant", literal, next)
	}
}

// isUnit recognizes time.Second and its like.
func isUnit(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := s.X.(*ast.Ident)
	return ok && of.Name == "time"
}

// returned replaces the truth values that a function returns.
func (g *generator) returned(n *ast.ReturnStmt) {
	for _, e := range n.Results {
		t := g.pkg.info.TypeOf(e)
		if t == nil || !types.Identical(types.Default(t).Underlying(), types.Typ[types.Bool]) {
			continue
		}
		value := g.pkg.info.Types[e].Value
		for _, with := range []bool{true, false} {
			if value == nil || constant.BoolVal(value) != with {
				g.replace("return-"+strconv.FormatBool(with), e, strconv.FormatBool(with))
			}
		}
	}
}
