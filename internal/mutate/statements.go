package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// statement adds the mutants that leave something out.
func (g *generator) statement(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		g.assignment(n)
	case *ast.IncDecStmt:
		g.step(n)
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			g.replace("drop-call", n, "")
		}
	case *ast.DeferStmt:
		g.replace("drop-defer", n, "")
	case *ast.IfStmt:
		g.branches(n)
	case *ast.SwitchStmt:
		g.cases(n.Body.List, n.Tag != nil)
	case *ast.TypeSwitchStmt:
		g.cases(n.Body.List, true)
	case *ast.SelectStmt:
		g.cases(n.Body.List, false)
	}
}

func (g *generator) assignment(n *ast.AssignStmt) {
	switch {
	case n.Tok == token.DEFINE || g.ofLoop(n) || g.ofCase(n):
	case n.Tok != token.ASSIGN:
		g.replace("drop-assignment", n, "")
		g.swapAssigned(n)
	case len(n.Lhs) == len(n.Rhs) && len(n.Lhs) > 1:
		for _, left := range n.Lhs {
			if !isBlank(left) {
				g.replace("drop-assignment", left, "_")
			}
		}
	case !isBlank(n.Lhs[0]) || len(n.Lhs) > 1 || calls(n.Rhs[0]):
		g.replace("drop-assignment", n, "")
	}
}

func (g *generator) swapAssigned(n *ast.AssignStmt) {
	switch {
	case n.Tok == token.ADD_ASSIGN && g.numeric(n.Lhs[0]):
		g.swap("swap-sign", n.TokPos, n.Tok, token.SUB_ASSIGN)
	case n.Tok == token.SUB_ASSIGN:
		g.swap("swap-sign", n.TokPos, n.Tok, token.ADD_ASSIGN)
	}
}

// step drops and reverses x++.
func (g *generator) step(n *ast.IncDecStmt) {
	if g.ofLoop(n) {
		return
	}
	other := token.INC
	if n.Tok == token.INC {
		other = token.DEC
	}
	g.replace("drop-assignment", n, "")
	g.swap("swap-sign", n.TokPos, n.Tok, other)
}

// ofLoop tells what a loop does after each round. Without it the loop runs for ever, which needs no proof.
func (g *generator) ofLoop(n ast.Stmt) bool {
	loop, ok := g.parent(1).(*ast.ForStmt)
	return ok && loop.Post == n
}

// ofCase tells what a case of a select does.
func (g *generator) ofCase(n ast.Stmt) bool {
	c, ok := g.parent(1).(*ast.CommClause)
	return ok && c.Comm == n
}

func isBlank(e ast.Expr) bool {
	i, ok := e.(*ast.Ident)
	return ok && i.Name == "_"
}

// calls reports whether an expression calls something, or waits for it.
func calls(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// branches leaves out an if without else.
func (g *generator) branches(n *ast.IfStmt) {
	if n.Else != nil || len(n.Body.List) == 0 {
		return
	}
	site := g.executed()
	if n.Init == nil && !calls(n.Cond) {
		site = n.Body.Lbrace + 1 // while it is not entered nobody misses it
	}
	from := n.Pos()
	if above, ok := g.parent(1).(*ast.IfStmt); ok && above.Else == n {
		from = above.Body.End()
	}
	g.addAt(site, "drop-if", from, n.End(), "")
}

// cases leaves out each case of a switch.
func (g *generator) cases(clauses []ast.Stmt, tagged bool) {
	for i, s := range clauses {
		switch c := s.(type) {
		case *ast.CaseClause:
			if !needless(clauses, i, tagged) {
				g.clause(c)
			}
		case *ast.CommClause:
			g.addAt(c.Colon+1, "drop-case", c.Pos(), c.End(), "")
		}
	}
}

// clause leaves out a case; of one with several values each.
func (g *generator) clause(c *ast.CaseClause) {
	if len(c.List) < 2 {
		g.addAt(c.Colon+1, "drop-case", c.Pos(), c.End(), "")
		return
	}
	for i := range c.List {
		from, to := cutFrom(c.List, i)
		g.addAt(c.Colon+1, "drop-case", from, to, "")
	}
}

// needless tells a case that does nothing and keeps no other from being reached.
func needless(clauses []ast.Stmt, i int, tagged bool) bool {
	c := clauses[i].(*ast.CaseClause)
	if len(c.Body) > 0 {
		return false
	}
	if c.List == nil {
		return true
	}
	for _, s := range clauses {
		if other, ok := s.(*ast.CaseClause); ok && other.List == nil && len(other.Body) > 0 {
			return false
		}
	}
	return tagged || i == len(clauses)-1
}

// fields leaves out what a struct is made with. Its text for people may be missing.
func (g *generator) fields(n *ast.CompositeLit) {
	t := g.pkg.info.TypeOf(n)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return
	}
	for i, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok || g.source(kv.Key) == "Reason" || g.zero(kv.Value) {
			continue
		}
		from, to := cutFrom(n.Elts, i)
		if len(n.Elts) == 1 {
			from, to = n.Lbrace+1, n.Rbrace // with the comma that may follow
		}
		g.add("drop-field", from, to, "")
	}
}

// zero tells a value that the field has anyway.
func (g *generator) zero(e ast.Expr) bool {
	v := g.pkg.info.Types[e]
	if v.IsNil() {
		return true
	}
	if v.Value == nil {
		return false
	}
	switch v.Value.Kind() {
	case constant.Bool:
		return !constant.BoolVal(v.Value)
	case constant.String:
		return constant.StringVal(v.Value) == ""
	case constant.Int, constant.Float:
		return constant.Sign(v.Value) == 0
	}
	return false
}
