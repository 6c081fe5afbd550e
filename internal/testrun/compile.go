package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
)

// batch is a set of packages that one command compiles: all in one mode, no two of one name.
type batch struct {
	mode mode
	dir  string // where the binaries go
	jobs []job
}

// binary is where the tests of a package are compiled to.
func (b batch) binary(j job) string { return filepath.Join(b.dir, path.Base(j.path)+".test") }

// batches divides jobs.
func batches(jobs []job, dir string) []batch {
	var all []batch
	for _, j := range jobs {
		i := 0
		for i < len(all) && !all[i].takes(j) {
			i++
		}
		if i == len(all) {
			all = append(all, batch{mode: j.mode, dir: filepath.Join(dir, strconv.Itoa(i))})
		}
		all[i].jobs = append(all[i].jobs, j)
	}
	return all
}

func (b batch) takes(j job) bool {
	for _, other := range b.jobs {
		if path.Base(other.path) == path.Base(j.path) {
			return false
		}
	}
	return b.mode == j.mode
}

// compile compiles the tests of a batch. What the compiler says is printed; what does not compile has no binary then.
func (b batch) compile(ctx context.Context) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	args := []string{"test", "-c", "-ldflags=-s -w", "-o", b.dir + string(filepath.Separator)}
	if b.mode == race {
		args = append(args, "-race")
	}
	for _, j := range b.jobs {
		args = append(args, j.path)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Printf("go test -c: %v\n", err)
	}
	return ctx.Err()
}

// raceWorks reports whether the race detector can be had here: it needs a C compiler on most systems.
func raceWorks() bool {
	null := os.DevNull
	return exec.Command("go", "test", "-c", "-race", "-o", null, module+"/internal/certainty").Run() == nil
}
