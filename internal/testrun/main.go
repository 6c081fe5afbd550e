package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// options are the command line.
type options struct {
	all    bool
	dir    string
	run    string
	burn   int
	stall  time.Duration
	burner bool
}

func parse() (o options, err error) {
	flag.BoolVar(&o.all, "all", false, "test what make test leaves out (make test-all)")
	flag.StringVar(&o.dir, "in", "", "test only the packages of this directory, with all of their tests")
	flag.StringVar(&o.run, "run", "", "run only the tests that match")
	flag.IntVar(&o.burn, "burn", 0, "keep so many other processes busy meanwhile")
	flag.DurationVar(&o.stall, "stall", 0, "freeze the tests now and then, for so long at most")
	flag.BoolVar(&o.burner, "as-burner", false, "be one of those processes (for this program's own use)")
	flag.Parse()
	o.dir = filepath.ToSlash(filepath.Clean(o.dir))
	if o.dir == "." {
		o.dir = ""
	}
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected %q; packages are named by -in, tests by -run", flag.Args())
	case o.burn < 0 || o.stall < 0:
		err = errors.New("-burn and -stall cannot be negative")
	case o.stall > 0 && !canStall:
		err = errors.New("-stall needs a system of the Unix kind")
	}
	return o, err
}

// mode is how the packages of a line are tested in this run.
func (o options) mode(l line) mode {
	switch {
	case o.all, o.dir != "" && l.test == out:
		return l.all
	default:
		return l.test
	}
}

// short reports whether long tests are left to make test-all.
func (o options) short() bool { return !o.all && o.dir == "" }

// names reports whether a package is one of those named.
func (o options) names(dir string) bool { return o.dir == "" || within(dir, o.dir) }

func main() {
	o, err := parse()
	if o.burner {
		burn()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var s summary
	if err == nil {
		err = s.test(ctx, o)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(2)
	}
	s.print(os.Stdout)
	if s.failed() {
		os.Exit(1)
	}
}

// test goes through the phases of a run.
func (s *summary) test(ctx context.Context, o options) error {
	all, err := parseTable(table)
	if err != nil {
		return err
	}
	pkgs, err := workspace()
	if err != nil {
		return err
	}
	p, err := choose(all, pkgs, o)
	if err != nil {
		return err
	}
	if p.servers == nil {
		p.servers = testserver.Programs(o.all)
	}
	s.left = p.left
	p.withoutRace()
	dir, err := os.MkdirTemp("", "tenure-tests-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bs := batches(p.jobs, dir)
	if err := prepare(ctx, s, bs, p.servers); err != nil {
		return err
	}
	return execute(ctx, s, o, p, bs)
}

// withoutRace does without the race detector where it does not work.
func (p plan) withoutRace() {
	wanted := func(j job) bool { return j.mode == race }
	if !slices.ContainsFunc(p.jobs, wanted) || raceWorks() {
		return
	}
	fmt.Println("without the race detector: it needs a C compiler, such as gcc")
	for i := range p.jobs {
		p.jobs[i].mode = plain
	}
}

// prepare gets the servers while it compiles the tests.
func prepare(ctx context.Context, s *summary, bs []batch, servers []string) (err error) {
	var getting sync.WaitGroup
	var missing error
	if len(servers) > 0 {
		fmt.Printf("getting what is missing of %s\n", strings.Join(servers, ", "))
		getting.Go(func() {
			defer s.phase("servers, meanwhile")()
			get := exec.CommandContext(ctx, "bash", append([]string{".ci/servers"}, servers...)...)
			get.Stdout, get.Stderr = os.Stdout, os.Stderr
			missing = get.Run()
		})
	}
	fmt.Printf("compiling the tests of %d packages\n", count(bs))
	compiled := s.phase("compiling")
	for _, b := range bs {
		err = errors.Join(err, b.compile(ctx))
	}
	compiled()
	getting.Wait()
	if missing != nil {
		err = errors.Join(err, fmt.Errorf("bash .ci/servers: %w", missing))
	}
	return err
}

func count(bs []batch) (n int) {
	for _, b := range bs {
		n += len(b.jobs)
	}
	return n
}

const (
	// perProcessor is how many packages are tested at once for each processor: they wait for servers and leases most of
	// the time.
	perProcessor = 2.5
	// betweenStalls is how long a process runs between two stalls, on average.
	betweenStalls = 5 * time.Second
)

// execute runs the tests, and says of each package how it went.
func execute(ctx context.Context, s *summary, o options, p plan, bs []batch) error {
	text, err := exec.Command("go", "tool", "-n", "test2json").Output()
	if err != nil {
		return fmt.Errorf("go tool test2json: %w", err)
	}
	stop, err := burners(o.burn)
	defer stop()
	if err != nil {
		return err
	}
	x := execution{
		o, strings.TrimSpace(string(text)), o.environment(p.servers),
		stalls{every: betweenStalls, most: o.stall, freeze: freeze, thaw: thaw},
	}
	running := s.phase("running")
	x.all(ctx, bs, p.jobs, int(perProcessor*float64(runtime.NumCPU())), func(r result) {
		s.results = append(s.results, r)
		r.print(os.Stdout)
	})
	running()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return s.matched(o.run)
}
