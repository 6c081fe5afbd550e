package track

import (
	"fmt"
	"path"
	"strings"
)

// Bug is a mistake that was in the source.
type Bug struct {
	// Text says what went wrong, and FoundBy what found it.
	Text, FoundBy string
	// Module is the directory of the module and File one of its files, in which replacing Old, which occurs once, by New
	// brings the bug back.
	Module, File, Old, New string
	// Test has to fail then. Package is its directory below the module.
	Package, Test string
}

// table returns the bugs as rows of Markdown.
func table(bugs []Bug) string {
	var b strings.Builder
	b.WriteString("| Bug | Found by | Kept out by |\n|---|---|---|\n")
	for _, bug := range bugs {
		dir := path.Join(bug.Module, bug.Package)
		fmt.Fprintf(&b, "| %s | %s | `%s` in [%s](%s) |\n", bug.Text, bug.FoundBy, bug.Test, name(dir), path.Join("..", dir))
	}
	return b.String()
}

// name is what a directory is called.
func name(dir string) string {
	if dir == "." {
		return "the library"
	}
	return "`" + dir + "`"
}
