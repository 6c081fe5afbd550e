package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// judge is a program that fails if it notices a mutant.
type judge struct {
	name    string
	test    string        // the package whose tests it is, as a directory; or
	program string        // the one that it is itself
	of      []string      // the directories of the packages that it judges
	flags   []string      // of the program or the tests
	skip    []string      // files of tests that look at the repository and not at what the code does
	reads   []string      // directories beside its own whose code decides about its verdicts
	slack   time.Duration // the processor time that a mutant gets beyond what the code needs as it is; 10 s if zero

	limits  limits
	covered coverage
}

// build compiles the judge, with an overlay if it is not empty. The compiler's cache is the user's: what it has
// compiled once it need not compile again, and what it keeps of mutants it throws away after some days.
func (j *judge) build(ctx context.Context, root, binary string, more ...string) outcome {
	args := []string{"build", "-buildvcs=false"}
	pkg := j.program
	if j.test != "" {
		args, pkg = []string{"test", "-c"}, j.test
	}
	args = append(args, "-ldflags=-s -w", "-o", binary)
	args = append(append(args, more...), "./"+pkg)
	return executeGo(ctx, root, filepath.Dir(binary), args)
}

// run has the judge decide. It may write into dir.
func (j *judge) run(ctx context.Context, root, dir, binary string, l limits, env, more []string) outcome {
	args := slices.Concat(j.flags, more)
	env = append(os.Environ(), append(env, "TMPDIR="+dir)...) // what a test that is killed leaves behind
	if j.test != "" {
		dir = filepath.Join(root, filepath.FromSlash(j.test))
	}
	return execute(ctx, l, dir, env, binary, args...)
}

// prepare runs the judge on the code as it is. It has to pass, and tells what it executes and how long it takes.
func (j *judge) prepare(ctx context.Context, root, dir string, pkgs []*pkg) error {
	if err := j.setFlags(root); err != nil {
		return err
	}
	binary := filepath.Join(dir, j.name)
	defer func() { _ = os.Remove(binary) }()
	if o := j.build(ctx, root, binary, "-cover", "-coverpkg="+strings.Join(j.measured(pkgs), ",")); o.err != nil {
		return fmt.Errorf("judge %s does not compile: %w\n%s", j.name, o.err, o.output)
	}
	o, profile := j.measure(ctx, root, dir, binary)
	if o.err != nil {
		return fmt.Errorf("judge %s fails on the code as it is, so that it cannot judge a change of it: %w\n%s",
			j.name, o.err, o.output)
	}
	j.limits = bounds(o, cmp.Or(j.slack, 10*time.Second))
	return j.covered.read(profile, j.among(pkgs))
}

// stalls is how long a busy machine may keep a process from running. It bounds those that hang.
const stalls = 30 * time.Second

// bounds gives a mutant as long as the code as it is, several times over. One that loops is stopped by the time of the
// processor, which a busy machine hardly changes.
func bounds(o outcome, slack time.Duration) limits {
	return limits{cpu: 5*o.cpu + slack, wall: 10*o.wall + stalls}
}

// setFlags completes the flags of tests.
func (j *judge) setFlags(root string) error {
	if j.test == "" {
		return nil
	}
	j.flags = append(j.flags, "-test.failfast", "-test.paniconexit0")
	var names []string
	for _, file := range j.skip {
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is gone: take it out of the judges' table of %s", file, "internal/mutate/tenure.go")
		}
		if err != nil {
			return err
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				names = append(names, regexp.QuoteMeta(f.Name.Name))
			}
		}
	}
	if len(names) > 0 {
		j.flags = append(j.flags, "-test.skip=^("+strings.Join(names, "|")+")$")
	}
	return nil
}

// judges reports whether the judge executes what the mutant changes.
func (j *judge) judges(m *mutant) bool {
	return slices.Contains(j.of, m.pkg.dir) && j.covered.executes(m.pkg.path, m.site)
}

// overlay has the compiler read the mutant's file in the place of the real one.
func overlay(dir string, m *mutant) (file string, err error) {
	changed := filepath.Join(dir, "mutant.go")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file.abs: changed}})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, errors.Join(os.WriteFile(changed, m.text(), 0o600), os.WriteFile(file, list, 0o600))
}
