package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// campaign is one call of the program.
type campaign struct {
	options
	summary
	setting        setting
	root           string
	stdout, stderr io.Writer

	all    []*mutant // there are
	record *record
	code   string // its fingerprint
	began  time.Time
	told   time.Time
	judged int // by this call
}

// do does what the options ask for. It reports whether there are unexplained survivors or stale explanations.
func (c *campaign) do(ctx context.Context) (failed bool, err error) {
	pkgs, err := load(ctx, c.root, c.setting.packages)
	if err != nil {
		return false, err
	}
	for _, p := range pkgs {
		c.all = append(c.all, p.mutants(c.setting.leftOut)...)
	}
	c.chosen = slices.DeleteFunc(slices.Clone(c.all), func(m *mutant) bool { return !c.takes(m) })
	switch {
	case c.show != "":
		return false, c.showOne()
	case len(c.chosen) == 0:
		return false, errors.New("no mutant matches; -list prints the names of all")
	case c.list:
		c.printNames()
		return false, nil
	}
	return c.hold(ctx, pkgs)
}

func (c *campaign) showOne() error {
	i := slices.IndexFunc(c.all, func(m *mutant) bool { return m.name == c.show })
	if i < 0 {
		return fmt.Errorf("there is no mutant %q; -list prints the names of all", c.show)
	}
	fmt.Fprint(c.stdout, c.all[i].diff())
	return nil
}

func (c *campaign) printNames() {
	for _, m := range c.chosen {
		fmt.Fprintln(c.stdout, m.name)
	}
}

// hold judges the chosen mutants, and leaves nothing behind.
func (c *campaign) hold(ctx context.Context, pkgs []*pkg) (failed bool, err error) {
	if err := c.begin(); err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "tenure-mutants-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir), c.record.close()) }()
	left := slices.DeleteFunc(slices.Clone(c.chosen), func(m *mutant) bool { return c.results[m.name].Name != "" })
	if err := c.prepare(ctx, dir, pkgs, left); err != nil {
		return false, err
	}
	c.began, c.told = time.Now(), time.Now()
	court := court{root: c.root, dir: dir, judges: c.judges, workers: c.workers}
	err = court.all(ctx, left, c.note)
	c.problems = stale(c.explained, c.all, c.results)
	c.print(c.stdout, c.setting.survivors)
	return c.failed(), err
}

// begin reads and opens the files of a run.
func (c *campaign) begin() error {
	var err error
	if c.setting.judges, err = only(c.setting.judges, c.ask); err != nil {
		return err
	}
	c.judges = c.setting.judges
	if c.explained, err = explanations(filepath.Join(c.root, c.setting.survivors)); err != nil {
		return err
	}
	if c.code, err = fingerprint(c.root, c.setting); err != nil {
		return err
	}
	var aside int
	if c.results, aside, err = resume(c.resume, c.code); err != nil {
		return err
	}
	if aside > 0 {
		fmt.Fprintf(c.stderr, "%d verdicts in %s are left aside: they are of other code, or by other judges\n",
			aside, c.resume)
	}
	c.record, err = keep(c.out, c.results)
	return err
}

// prepare has the judges that are needed look at the code as it is.
func (c *campaign) prepare(ctx context.Context, dir string, pkgs []*pkg, left []*mutant) error {
	for _, j := range c.judges {
		if !slices.ContainsFunc(left, func(m *mutant) bool { return slices.Contains(j.of, m.pkg.dir) }) {
			continue
		}
		fmt.Fprintf(c.stderr, "judge %s looks at the code as it is\n", j.name)
		if err := j.prepare(ctx, c.root, dir, pkgs); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	fmt.Fprintf(c.stderr, "%d mutants, of which %d are left to be judged, %d at once\n",
		len(c.chosen), len(left), c.workers)
	return nil
}

// note keeps a verdict and tells how far it got.
func (c *campaign) note(m *mutant, r result) error {
	r.Code = c.code
	c.results[m.name] = r
	c.judged++
	switch {
	case c.verbose:
		fmt.Fprintln(c.stderr, r)
	case r.alive() && c.reason(m) == "":
		fmt.Fprintln(c.stderr, r.Name+": "+string(r.Verdict))
	}
	c.tell()
	return c.record.add(r)
}

// tell tells every half minute how far it got.
func (c *campaign) tell() {
	const pause = 30 * time.Second
	if time.Since(c.told) < pause {
		return
	}
	c.told = time.Now()
	done := c.count(func(result) bool { return true })
	left := len(c.chosen) - done
	each := time.Since(c.began) / time.Duration(c.judged)
	fmt.Fprintf(c.stderr, "%d of %d, %d survived, about %v to go\n", done, len(c.chosen), c.count(result.alive),
		(each * time.Duration(left)).Round(time.Minute))
}
