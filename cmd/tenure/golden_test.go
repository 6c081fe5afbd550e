package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenHelp pins the help texts, and with them every command and flag.
func TestGoldenHelp(t *testing.T) {
	for _, path := range append(commandPaths(newRoot(&app{})), nil) {
		name := strings.Join(append([]string{"tenure"}, path...), "-")
		t.Run(name, func(t *testing.T) {
			got := must(t, append(path, "--help")...)
			golden(t, filepath.Join("testdata", name+".golden"), got)
			for i, line := range strings.Split(got, "\n") {
				if len([]rune(line)) > 120 {
					t.Errorf("line %d has %d characters, more than 120: %s", i+1, len([]rune(line)), line)
				}
			}
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test -run TestGoldenHelp -update .", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; write it anew with -update if that is intended. Got:\n%s", path, got)
	}
}

func commandPaths(root *cobra.Command) (paths [][]string) {
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			paths = append(paths, strings.Fields(cmd.CommandPath())[1:])
		}
	}
	return paths
}
