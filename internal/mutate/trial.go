package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// court judges mutants, several at a time.
type court struct {
	root    string
	dir     string // for what is compiled
	judges  []*judge
	workers int
}

// all judges each mutant and calls done after each, one call at a time, until ctx ends.
func (c *court) all(ctx context.Context, mutants []*mutant, done func(*mutant, result) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *mutant)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range c.workers {
		workers.Go(func() {
			for m := range queue {
				r, err := c.one(ctx, m)
				mu.Lock()
				if err == nil {
					err = done(m, r)
				}
				mu.Unlock()
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, m := range mutants {
		if ctx.Err() == nil {
			queue <- m
		}
	}
	close(queue)
	workers.Wait()
	return context.Cause(ctx)
}

// one has a mutant judged, by one after another until it is killed.
func (c *court) one(ctx context.Context, m *mutant) (r result, err error) {
	began := time.Now()
	r = result{Name: m.name, Verdict: notCovered}
	defer func() { r.Took = time.Since(began) }()
	if err := m.compiles(); err != nil {
		r.Verdict, r.Said = noCompile, err.Error()
		return r, nil
	}
	dir, err := os.MkdirTemp(c.dir, "mutant-")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := overlay(dir, m)
	if err != nil {
		return r, err
	}
	for _, j := range c.judges {
		if !j.judges(m) {
			continue
		}
		r.Verdict = survived
		if err := c.ask(ctx, j, dir, file, &r); err != nil || !r.alive() {
			return r, err
		}
	}
	return r, nil
}

// ask has one judge decide.
func (c *court) ask(ctx context.Context, j *judge, dir, overlay string, r *result) error {
	binary := filepath.Join(dir, j.name)
	built := j.build(ctx, c.root, binary, "-overlay="+overlay)
	if err := ctx.Err(); err != nil {
		return err
	}
	if built.err != nil {
		r.Verdict, r.Said = noCompile, first(built.output)
		return nil //nolint:nilerr // a mutant that does not compile is a verdict
	}
	ran := j.run(ctx, c.root, dir, binary, j.limits, nil, nil)
	if err := ctx.Err(); err != nil {
		return err
	}
	if ran.err != nil {
		r.Verdict, r.Judge, r.ByTime, r.Said = killed, j.name, errors.Is(ran.err, errTime), first(ran.output)
	}
	return os.Remove(binary)
}

// first returns the first lines of what was printed, for people.
func first(output string) string {
	const most = 500
	output = strings.TrimSpace(output)
	if len(output) > most {
		output = strings.ToValidUTF8(output[:most], "") + " …"
	}
	return output
}
