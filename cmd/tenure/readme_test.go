package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestReadmeIsComplete: it names every command, every global flag with its variable, every exit code and every scheme.
func TestReadmeIsComplete(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var wanted []string
	root := newRoot(&app{})
	for _, path := range commandPaths(root) {
		wanted = append(wanted, "`tenure "+strings.Join(path, " "))
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		wanted = append(wanted, "--"+f.Name, "`"+variable(f)+"`")
	})
	for _, code := range []int{codeRefused, codeVacant, codeLost, codeStore, codeTimeout, codeFailed} {
		wanted = append(wanted, "| "+strconv.Itoa(code)+" |")
	}
	for _, s := range schemes {
		for _, name := range s.names {
			wanted = append(wanted, "`"+name+":")
		}
	}
	for _, state := range []string{
		stateHeld, stateAbandoned, stateSilent, stateVacant, statePaused, stateForgotten, stateMissing,
	} {
		wanted = append(wanted, "`"+state+"`")
	}
	for _, want := range wanted {
		if !strings.Contains(string(text), want) {
			t.Errorf("README.md does not mention %s", want)
		}
	}
}
