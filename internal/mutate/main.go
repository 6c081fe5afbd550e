package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

// options are the command line.
type options struct {
	match       string
	share       share
	list        bool
	show        string
	ask         string
	histories   int
	seed        uint64
	workers     int
	out, resume string
	verbose     bool

	matches *regexp.Regexp
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	o.share = share{1, 1}
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.match, "match", "", "take only the mutants whose name matches this `regexp`")
	flags.Var(&o.share, "share", "take only the share `K/N` of the mutants, which depends on their names alone")
	flags.BoolVar(&o.list, "list", false, "print the names of the mutants, and judge none")
	flags.StringVar(&o.show, "show", "", "print what the mutant of this `name` changes, and judge none")
	flags.StringVar(&o.ask, "judges", "", "ask only these `judges` (comma-separated: unit, sim, root, bubble)")
	flags.IntVar(&o.histories, "histories", 20_000, "how many histories the simulator plays with a mutant")
	flags.Uint64Var(&o.seed, "seed", 1, "the seed of the first of them")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "how many mutants to judge at once")
	flags.StringVar(&o.out, "out", "", "write each verdict into this `file`, as a line of JSON")
	flags.StringVar(&o.resume, "resume", "", "take over the verdicts in this `file`, which may be that of -out")
	flags.BoolVar(&o.verbose, "v", false, "print each verdict")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.matches, err = regexp.Compile(o.match); err == nil {
		err = o.check(flags.Args())
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
	}
	return o, err
}

func (o *options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q; mutants are named by -match", rest[0])
	}
	if o.workers < 1 || o.histories < 1 {
		return errors.New("-workers and -histories must be positive")
	}
	return nil
}

// takes reports whether a mutant is among those asked for.
func (o *options) takes(m *mutant) bool {
	return o.matches.MatchString(m.name) && m.inShare(o.share.k, o.share.n)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	root, err := filepath.Abs(".")
	status := 2
	if err == nil {
		status = run(ctx, root, tenure, os.Args[1:], os.Stdout, os.Stderr)
	}
	os.Exit(status)
}

// run is the program, with a setting that depends on the simulator's flags. It returns the exit status: 1 if a mutant
// survives without an explanation, or one is stale; 2 if it could not be carried through.
func run(
	ctx context.Context, root string, of func(histories int, seed uint64) setting, args []string, stdout, stderr io.Writer,
) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	c := campaign{options: o, setting: of(o.histories, o.seed), root: root, stdout: stdout, stderr: stderr}
	failed, err := c.do(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "mutate: interrupted; with -out FILE and then -resume FILE a run goes on where it was")
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "mutate:", err)
		return 2
	case failed:
		return 1
	}
	return 0
}
