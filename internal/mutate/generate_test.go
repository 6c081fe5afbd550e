package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is generated as what is expected")

// module copies a directory of testdata into a module of its own, which must not be one of this repository.
func module(t *testing.T, name string) (root string) {
	t.Helper()
	t.Setenv("GOWORK", "off")
	root = t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "go.mod"), "module example.com/"+name+"\n\ngo 1.25\n")
	return root
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func loaded(t *testing.T, root string, leftOut ...string) []*mutant {
	t.Helper()
	pkgs, err := load(t.Context(), root, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs[0].mutants(leftOut)
}

// Each operator, and each exception from it, has something in testdata/operators. The list says of each mutant what it
// changes, and which do not compile.
func TestOperators(t *testing.T) {
	var got strings.Builder
	for _, m := range loaded(t, module(t, "operators")) {
		got.WriteString(m.name + "\n")
		for line := range strings.Lines(m.diff()) {
			if text := strings.TrimSpace(line[1:]); text != "" && line[0] != ' ' && line[0] != '@' && line[1] != line[0] {
				got.WriteString("  " + line[:1] + " " + text + "\n")
			}
		}
		if m.compiles() != nil {
			got.WriteString("  which does not compile\n")
		}
	}
	const golden = "testdata/operators.txt"
	if *update {
		write(t, golden, got.String())
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("go test ./internal/mutate -run TestOperators -update makes the list of it\n%s", got.String())
	}
}

// Explanations and shares go by names, which must not depend on where something stands.
func TestNamesStayWhenLinesMove(t *testing.T) {
	root := module(t, "operators")
	before := names(loaded(t, root))
	file := filepath.Join(root, "operators.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(string(text), "func conditions", "func added(n int) int { return n + 1 }\n\nfunc conditions", 1))
	after := strings.Replace(names(loaded(t, root)),
		"operators.go:added#1 swap-sign\noperators.go:added#1 change-constant\n", "", 1)
	if before != after {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if rest := loaded(t, root, "operators.go"); len(rest) > 0 {
		t.Errorf("a file that is left out has %d mutants", len(rest))
	}
}

func names(all []*mutant) string {
	var out strings.Builder
	for _, m := range all {
		out.WriteString(m.name + "\n")
	}
	return out.String()
}

// No two mutants of the repository have one name, its setting fits it, and the shares are the whole.
func TestMutantsOfTheRepository(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := tenure(1, 1)
	pkgs, err := load(t.Context(), root, s.packages)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	shares := make([]int, 10)
	for _, p := range pkgs {
		for _, m := range p.mutants(s.leftOut) {
			if seen[m.name] {
				t.Errorf("two mutants are named %s", m.name)
			}
			seen[m.name] = true
			for k := range shares {
				if m.inShare(k+1, len(shares)) {
					shares[k]++
				}
			}
		}
	}
	total := 0
	for k, n := range shares {
		if total += n; n < len(seen)/20 || n > len(seen)/5 {
			t.Errorf("share %d of 10 has %d mutants of %d", k+1, n, len(seen))
		}
	}
	if total != len(seen) || total < 500 {
		t.Errorf("%d mutants, in shares %d", len(seen), total)
	}
}

func TestShareIsChecked(t *testing.T) {
	for _, text := range []string{"", "1", "0/3", "4/3", "1/0", "-1/3", "1/3x", "a/b"} {
		if new(share).Set(text) == nil {
			t.Errorf("%q is taken for a share", text)
		}
	}
	var s share
	if err := s.Set("3/40"); err != nil || s != (share{3, 40}) || s.String() != "3/40" {
		t.Errorf("%v, %v", s, err)
	}
}
