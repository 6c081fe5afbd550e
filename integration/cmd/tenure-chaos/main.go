//go:build linux

// Command tenure-chaos runs elections among real processes over real servers while it kills, freezes, cuts off and
// confuses both, and checks that no two of them led at once. `make chaos` runs it.
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
	"strings"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/chaos"
	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/nemesis"
	"github.com/tenure-go/tenure/integration/internal/report"
	"github.com/tenure-go/tenure/integration/internal/worker"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Exit statuses.
const (
	passed   = 0
	violated = 1
	misused  = 2
	broken   = 3
)

func main() {
	if worker.Wanted() {
		os.Exit(worker.Main())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return passed
	case err != nil:
		fmt.Fprintln(stderr, "tenure-chaos:", err)
		return misused
	}
	if f.judged != "" {
		return max(f.judge(stdout, stderr), f.write(stderr))
	}
	removed, err := f.build(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "tenure-chaos:", err)
		return broken
	}
	defer removed()
	if f.selfCheck {
		return f.checkItself(ctx, stdout, stderr)
	}
	return max(f.all(ctx, stdout, stderr), f.write(stderr))
}

// all makes a run for each store, and returns the exit status.
func (f *flags) all(ctx context.Context, stdout, stderr io.Writer) int {
	status := passed
	for _, bed := range f.beds {
		status = max(status, f.one(ctx, bed, stdout, stderr))
		if ctx.Err() != nil {
			break
		}
	}
	return status
}

// write puts the table of all results into the documents, and returns the exit status for that.
func (f *flags) write(stderr io.Writer) int {
	for _, name := range split(f.document) {
		if err := report.WriteDocument(name, f.results); err != nil {
			fmt.Fprintln(stderr, "tenure-chaos:", err)
			return broken
		}
	}
	return passed
}

// build builds tenure once for all runs that need it. What it returns removes the program.
func (f *flags) build(ctx context.Context) (removed func(), err error) {
	if f.Tenure != "" || f.LibraryOnly || f.selfCheck {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "tenure-chaos-program-")
	if err != nil {
		return nil, err
	}
	if f.Tenure, err = chaos.BuildTenure(ctx, dir, f.beds...); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return func() { _ = os.RemoveAll(dir) }, nil
}

// flags are what the command line says.
type flags struct {
	chaos.Options

	beds      []beds.Bed
	dir       string
	results   string
	document  string
	drawn     string // the faults, as they were given
	selfCheck bool
	judged    string
}

func parse(args []string, stderr io.Writer) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("tenure-chaos", flag.ContinueOnError)
	set.SetOutput(stderr)
	stores := set.String("store", "file", "`stores`, separated by commas, or all: "+strings.Join(bedNames(), ", "))
	faults := set.String("faults", "", "`faults` to draw from, separated by commas (default: all that fit): "+
		strings.Join(nemesis.Names(nemesis.All()), ", "))
	set.Uint64Var(&f.Seed, "seed", 1, "`number` that draws the same faults again")
	set.DurationVar(&f.For, "for", 10*time.Minute, "how long faults are brought about, on each store")
	set.IntVar(&f.Candidates, "candidates", 4, "how many processes stand for election; every second is tenure run")
	set.DurationVar(&f.TTL, "ttl", 3*time.Second, "TTL of the leases, in whole seconds")
	set.StringVar(&f.Unsafe, "unsafe", "", "`protection` to switch off, so that the run has to fail: "+
		strings.Join(chaos.ProtectionNames(), ", "))
	set.StringVar(&f.dir, "dir", "", "`directory` for histories, logs and reports (default: a new temporary one)")
	set.StringVar(&f.results, "results", "", "`directory` in which the summary of each store's last run is kept")
	set.StringVar(&f.document, "write", "", "`documents` in which the table of what is in -results is replaced")
	set.StringVar(&f.Tenure, "tenure", "", "`program` tenure (default: it is built)")
	set.StringVar(&f.judged, "judge", "", "`directory` of an earlier run to judge again, instead of making one")
	set.BoolVar(&f.selfCheck, "selfcheck", false, "switch off each protection in turn, and see that it is found")
	set.BoolVar(&f.LibraryOnly, "library-only", false, "without tenure run")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("there are no arguments, only flags, but got %q", set.Args())
	}
	var err error
	if f.beds, err = choose(*stores); err != nil {
		return nil, err
	}
	f.Faults, err = nemesis.Find(split(*faults))
	if err != nil {
		return nil, err
	}
	if f.document != "" && f.results == "" {
		return nil, errors.New("-write makes a table of the summaries in -results, which is not given")
	}
	f.drawn = *faults
	for _, f.Bed = range f.beds {
		if err := f.Check(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// command is how to make a store's run again.
func (f *flags) command(store string) string {
	c := fmt.Sprintf("go run ./integration/cmd/tenure-chaos -store %s -seed %d -for %v -candidates %d -ttl %v",
		store, f.Seed, f.For, f.Candidates, f.TTL)
	for _, flag := range [][2]string{{"-faults", f.drawn}, {"-unsafe", f.Unsafe}} {
		if flag[1] != "" {
			c += " " + flag[0] + " " + flag[1]
		}
	}
	if f.LibraryOnly {
		c += " -library-only"
	}
	return c
}

func split(list string) (words []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func choose(stores string) ([]beds.Bed, error) {
	if stores == "all" {
		return beds.All(), nil
	}
	var chosen []beds.Bed
	for _, name := range split(stores) {
		bed, err := beds.Find(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, bed)
	}
	if len(chosen) == 0 {
		return nil, errors.New("name a store")
	}
	return chosen, nil
}

func bedNames() (names []string) {
	for _, bed := range beds.All() {
		names = append(names, bed.Name)
	}
	return names
}

// one makes the run of one store, and returns the exit status for it.
func (f *flags) one(ctx context.Context, bed beds.Bed, stdout, stderr io.Writer) int {
	o := f.Options
	o.Bed, o.Log, o.Command = bed, stderr, f.command(bed.Name)
	var err error
	if o.Dir, err = f.directory(bed.Name); err != nil {
		fmt.Fprintln(stderr, "tenure-chaos:", err)
		return misused
	}
	var result *check.Result
	err = beds.WithServers(stderr, func(tb testserver.TB) (err error) {
		result, err = chaos.Run(ctx, tb, o)
		return err
	})
	switch {
	case errors.Is(err, beds.ErrSkipped):
		fmt.Fprintf(stdout, "%s: %v\n", bed.Name, err)
		return passed
	case err != nil:
		fmt.Fprintf(stderr, "tenure-chaos: %s: %v\n", bed.Name, err)
		return broken
	}
	return f.tell(stdout, stderr, o.Dir, result)
}

// judge judges an earlier run again.
func (f *flags) judge(stdout, stderr io.Writer) int {
	result, err := chaos.Judge(f.judged)
	if err != nil {
		fmt.Fprintln(stderr, "tenure-chaos:", err)
		return broken
	}
	return f.tell(stdout, stderr, f.judged, result)
}

// tell writes and prints what became of a run, and returns the exit status for it.
func (f *flags) tell(stdout, stderr io.Writer, dir string, result *check.Result) int {
	if err := f.keep(result, dir); err != nil {
		fmt.Fprintln(stderr, "tenure-chaos:", err)
		return broken
	}
	show(stdout, result)
	fmt.Fprintf(stdout, "  report: %s\n", filepath.Join(dir, report.PageName))
	if !result.Passed {
		return violated
	}
	return passed
}

// keep writes the reports of a run, and its summary beside those of other stores if that is wanted.
func (f *flags) keep(result *check.Result, dir string) error {
	if err := report.Write(dir, result); err != nil || f.results == "" {
		return err
	}
	if err := os.MkdirAll(f.results, 0o755); err != nil {
		return err
	}
	return report.Summarize(result).Save(f.results)
}

// directory makes the one for a store.
func (f *flags) directory(store string) (string, error) {
	if f.dir == "" {
		return os.MkdirTemp("", "tenure-chaos-"+store+"-")
	}
	dir, err := filepath.Abs(f.dir)
	if err == nil && len(f.beds) > 1 {
		dir = filepath.Join(dir, store)
	}
	return dir, errors.Join(err, os.MkdirAll(dir, 0o755))
}

// checkItself makes a run without each protection, and returns the exit status: every one has to fail.
func (f *flags) checkItself(ctx context.Context, stdout, stderr io.Writer) int {
	o := f.Options
	o.Log = stderr
	status := passed
	for _, p := range chaos.Plants() {
		if f.Unsafe != "" && f.Unsafe != p.Protection {
			continue
		}
		var err error
		if o.Dir, err = f.directory("selfcheck"); err != nil {
			fmt.Fprintln(stderr, "tenure-chaos:", err)
			return misused
		}
		err = beds.WithServers(stderr, func(tb testserver.TB) error { return p.Check(ctx, tb, o) })
		switch {
		case errors.Is(err, beds.ErrSkipped):
			fmt.Fprintf(stdout, "%-20s %v\n", p.Protection, err)
		case err != nil:
			fmt.Fprintf(stdout, "%-20s NOT FOUND: %v\n", p.Protection, err)
			status = violated
		default:
			fmt.Fprintf(stdout, "%-20s found\n", p.Protection)
		}
	}
	return status
}

// mostFindings is how many of a rule are printed.
const mostFindings = 5

func show(w io.Writer, result *check.Result) {
	verdict := "passed"
	if !result.Passed {
		verdict = "FAILED"
	}
	store, _, _ := strings.Cut(result.Run.Store, ":")
	fmt.Fprintf(w, "%s %s\n", store, verdict)
	for _, row := range result.Rows {
		fmt.Fprintf(w, "  %-14s %-24s %s\n", row.ID, row.Verdict, row.Note)
		for i, finding := range row.Findings {
			if i == mostFindings {
				fmt.Fprintf(w, "      and %d more\n", len(row.Findings)-i)
				break
			}
			fmt.Fprintln(w, "      "+finding.Text)
		}
	}
}
