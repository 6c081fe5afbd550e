package deploytest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

const dockerfile = deployed + "/docker/Dockerfile"

// readDockerfile parses the Dockerfile with Docker's own parser, which must have nothing to object.
func readDockerfile(t *testing.T) (build, final instructions.Stage, args []instructions.ArgCommand) {
	t.Helper()
	parsed, err := parser.Parse(strings.NewReader(read(t, dockerfile)))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range parsed.Warnings {
		t.Errorf("the parser warns: %s", w.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, description, _, message string, _ []parser.Range) {
		t.Errorf("%s: %s: %s", rule, description, message)
	}})
	stages, args, err := instructions.Parse(parsed.AST, lint)
	if err != nil || len(stages) != 2 {
		t.Fatalf("got %d stages and %v", len(stages), err)
	}
	return stages[0], stages[1], args
}

// commands are those of a stage that are of one kind.
func commands[C instructions.Command](stage instructions.Stage) (all []C) {
	for _, c := range stage.Commands {
		if c, ok := c.(C); ok {
			all = append(all, c)
		}
	}
	return all
}

// TestDockerfile: the image has the command, certificates where Go looks for them, and nothing else; it does not run as
// root, ends with the signal that the command expects, and is built by the Go of the workspace.
func TestDockerfile(t *testing.T) {
	build, final, args := readDockerfile(t)
	if final.BaseName != "scratch" || len(commands[*instructions.RunCommand](final)) > 0 {
		t.Errorf("the image is made from %s", final.BaseName)
	}
	var content []string
	for _, c := range commands[*instructions.CopyCommand](final) {
		if c.From != build.Name || c.Chown != "" {
			t.Errorf("%s comes from %q and belongs to %q", c.DestPath, c.From, c.Chown)
		}
		content = append(content, c.DestPath)
	}
	if want := []string{"/etc/ssl/certs/ca-certificates.crt", "/tenure"}; !slices.Equal(content, want) {
		t.Errorf("the image has %q", content)
	}
	if users := commands[*instructions.UserCommand](final); len(users) != 1 ||
		!regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(users[0].User) {
		t.Errorf("it runs as %v", users)
	}
	if s := commands[*instructions.StopSignalCommand](final); len(s) != 1 || s[0].Signal != "SIGTERM" {
		t.Errorf("it is stopped by %v", s)
	}
	if e := commands[*instructions.EntrypointCommand](final); len(e) != 1 || !slices.Equal(e[0].CmdLine, []string{"/tenure"}) ||
		e[0].PrependShell {
		t.Errorf("it starts with %+v", e)
	}
	goVersion := regexp.MustCompile(`(?m)^go (1\.\d+)\.\d+$`).FindStringSubmatch(read(t, "../../go.work"))[1]
	if a := args[0].Args[0]; a.Key != "GO_VERSION" || a.Value == nil || !strings.HasPrefix(*a.Value, goVersion+".") ||
		build.BaseName != "golang:${GO_VERSION}" {
		t.Errorf("%s is built by Go %s, and the workspace wants %s", build.BaseName, *a.Value, goVersion)
	}
}

// TestDockerIgnores nothing that the build needs: all modules of the workspace have to be there.
func TestDockerIgnores(t *testing.T) {
	patterns := strings.Fields(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(read(t, dockerfile+".dockerignore"), ""))
	if len(patterns) == 0 {
		t.Fatal("nothing is ignored")
	}
	root := os.DirFS("../..")
	checked := 0
	for line := range strings.Lines(read(t, "../../go.work")) {
		dir, ok := strings.CutPrefix(strings.TrimSpace(line), "./")
		if !ok {
			continue
		}
		checked++
		if file, err := root.Open(filepath.ToSlash(filepath.Join(dir, "go.mod"))); err != nil {
			t.Error(err)
		} else {
			file.Close()
		}
		for _, pattern := range patterns {
			for _, part := range strings.Split(dir, "/") {
				if ok, err := filepath.Match(strings.TrimPrefix(pattern, "**/"), part); ok || err != nil {
					t.Errorf("%s is ignored by %s: %v", dir, pattern, err)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no module was found")
	}
}
