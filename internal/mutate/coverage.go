package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// coverage is what a judge executes: blocks of each file, as Go counts them.
type coverage map[string][]block

type block struct {
	from, to place
	executed bool
}

type place struct{ line, column int }

func (p place) after(other place) bool {
	return p.line > other.line || p.line == other.line && p.column > other.column
}

// measured are the packages whose coverage is asked for. A program counts nothing unless it is measured itself.
func (j *judge) measured(pkgs []*pkg) (paths []string) {
	for _, p := range j.among(pkgs) {
		paths = append(paths, p.path)
	}
	if j.program != "" {
		paths = append(paths, "./"+j.program)
	}
	return paths
}

// among returns the packages that it judges.
func (j *judge) among(pkgs []*pkg) []*pkg {
	return slices.DeleteFunc(slices.Clone(pkgs), func(p *pkg) bool { return !slices.Contains(j.of, p.dir) })
}

// measure runs the judge, compiled to count, and returns the file with the counts.
func (j *judge) measure(ctx context.Context, root, dir, binary string) (o outcome, profile string) {
	profile = filepath.Join(dir, j.name+".cover")
	if j.test != "" {
		return j.run(ctx, root, dir, binary, limits{}, nil, []string{"-test.coverprofile=" + profile}), profile
	}
	counts := filepath.Join(dir, j.name+".counts")
	if err := os.Mkdir(counts, 0o700); err != nil {
		return outcome{err: err}, ""
	}
	o = j.run(ctx, root, dir, binary, limits{}, []string{"GOCOVERDIR=" + counts}, nil)
	if o.err == nil {
		text := executeGo(ctx, root, dir, []string{"tool", "covdata", "textfmt", "-i=" + counts, "-o=" + profile})
		o.err, o.output = text.err, o.output+text.output
	}
	return o, profile
}

// read takes in a profile of the format that go tool cover reads. That nothing of the packages is in it would make
// everything look as if it was never executed.
func (c *coverage) read(profile string, pkgs []*pkg) error {
	text, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	*c = coverage{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		file, rest, _ := strings.Cut(lines.Text(), ".go:")
		var b block
		var statements, count int
		if n, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.from.line, &b.from.column, &b.to.line, &b.to.column,
			&statements, &count); n == 6 {
			b.executed = count > 0
			(*c)[file+".go"] = append((*c)[file+".go"], b)
		}
	}
	for _, p := range pkgs {
		for _, f := range p.files {
			if len((*c)[path.Join(p.path, path.Base(f.name))]) > 0 {
				return nil
			}
		}
	}
	return fmt.Errorf("the profile %s counts nothing of the packages to be changed", filepath.Base(profile))
}

// executes reports whether a position is executed: whether the innermost block around it is, as functions within
// functions are counted by themselves. What lies in no block, such as a variable of the package, always is.
func (c coverage) executes(pkg string, at token.Position) bool {
	here := place{at.Line, at.Column}
	executed, innermost := true, place{}
	for _, b := range c[path.Join(pkg, filepath.Base(at.Filename))] {
		if b.from.after(here) || here.after(b.to) || innermost.after(b.from) {
			continue
		}
		if b.from == innermost {
			executed = executed || b.executed // one block, counted in several binaries
		} else {
			executed, innermost = b.executed, b.from
		}
	}
	return executed
}
