package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"hash/fnv"
	"slices"
)

// mutant is the source with one edit.
type mutant struct {
	name     string
	pkg      *pkg
	file     *file
	from, to int // the bytes of the file that are replaced
	with     string
	site     token.Position // what has to be executed for the edit to matter
}

// text is the changed file.
func (m *mutant) text() []byte {
	return slices.Concat(m.file.text[:m.from], []byte(m.with), m.file.text[m.to:])
}

// compiles tells without the compiler, which takes a thousand times as long. It misses little.
func (m *mutant) compiles() error {
	tree, err := parser.ParseFile(m.pkg.fset, m.file.abs, m.text(), parser.SkipObjectResolution)
	if err == nil {
		_, err = m.pkg.check(m.pkg.imports, m.pkg.trees(m.file, tree), nil)
	}
	return err
}

// inShare reports whether the mutant is in the share k of n. It depends on the name alone.
func (m *mutant) inShare(k, n int) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.name))
	// The lowest bits of this hash alone are not even.
	return (h.Sum64()>>32^h.Sum64())%uint64(n) == uint64(k-1)
}

// share is a part of all mutants, such as 3/40.
type share struct{ k, n int }

func (s *share) String() string { return fmt.Sprintf("%d/%d", s.k, s.n) }

func (s *share) Set(text string) error {
	var rest string
	if n, _ := fmt.Sscanf(text, "%d/%d%s", &s.k, &s.n, &rest); n != 2 || s.k < 1 || s.k > s.n {
		return fmt.Errorf("a share is K/N with 1 <= K <= N, such as 1/40")
	}
	return nil
}
