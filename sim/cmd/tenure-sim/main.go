// Command tenure-sim plays random histories of elections and checks every rule of the protocol on each.
//
// Without -seed it plays other histories each time. It exits with status 1 if a rule was broken, and prints the seed
// and the command that replays the history.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/sim"
)

func main() { os.Exit(exec(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the flags of the command.
type options struct {
	histories, workers int
	seed               uint64
	duration           time.Duration
	kind               sim.Kind
	trace              bool
	html               string
	corpus             string
	expect             []sim.Rule
	coverage, cover    bool
}

func exec(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	if o.trace || o.html != "" {
		return replay(o, stdout, stderr)
	}
	if o.corpus != "" {
		if status := playCorpus(o.corpus, stdout, stderr); status != 0 {
			return status
		}
	}
	return campaign(o, stdout, stderr)
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{seed: sim.FreshSeed()}
	flags := flag.NewFlagSet("tenure-sim", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.histories, "histories", 0, "how many histories to play; 10,000 without -for")
	flags.DurationVar(&o.duration, "for", 0, "stop after this time")
	flags.Func("seed", "the `seed` of the first history, drawn afresh if not given; the next one has the next number",
		o.setSeed)
	flags.IntVar(&o.workers, "workers", 2, "how many to play at once")
	flags.BoolVar(&o.trace, "trace", false, "play one history and print everything that happens")
	flags.StringVar(&o.html, "html", "", "play one history and write its timeline to this `file`")
	flags.StringVar(&o.corpus, "corpus", "", "first play the histories in this `file`, which once broke a rule")
	flags.BoolVar(&o.coverage, "coverage", false, "print in how many histories each fault and each effect occurred")
	flags.BoolVar(&o.cover, "cover", false, "fail if any fault or effect did not occur")
	kind := flags.String("kind", "mix", "mix; beyond (clocks err by more than the bound); snapshot (all clocks stand)")
	expect := flags.String("expect", "", "succeed once each of these `rules` was broken (comma-separated), fail if not")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	err := o.set(*kind, *expect, flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "tenure-sim:", err)
	}
	return o, err
}

func (o *options) setSeed(text string) (err error) {
	o.seed, err = strconv.ParseUint(text, 0, 64)
	if err != nil {
		return fmt.Errorf("not a whole number below 2^64")
	}
	return nil
}

func (o *options) set(kind, expect string, rest []string) (err error) {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	if o.histories < 0 || o.workers < 1 || o.duration < 0 {
		return fmt.Errorf("-workers must be positive, -histories and -for not negative")
	}
	if o.corpus != "" && (o.trace || o.html != "") {
		return fmt.Errorf("-trace and -html play one history, -corpus plays several")
	}
	if o.histories == 0 {
		o.histories = 10_000
		if o.duration > 0 {
			o.histories = math.MaxInt
		}
	}
	if o.kind, err = sim.ParseKind(kind); err != nil || expect == "" {
		return err
	}
	for name := range strings.SplitSeq(expect, ",") {
		rule, err := sim.ParseRule(name)
		if err != nil {
			return err
		}
		o.expect = append(o.expect, rule)
	}
	return nil
}

// replay plays one history for people to read.
func replay(o options, stdout, stderr io.Writer) int {
	var log sim.Log
	w := sim.NewWorld()
	w.Record(&log)
	ok := w.Run(o.kind, o.seed)
	if o.trace {
		for _, line := range log.Lines {
			fmt.Fprintln(stdout, line)
		}
		fmt.Fprintf(stdout, "seed %d: hash %016x\n", o.seed, w.Hash())
	}
	if o.html != "" {
		if err := os.WriteFile(o.html, w.Timeline(&log), 0o644); err != nil {
			fmt.Fprintln(stderr, "tenure-sim:", err)
			return 2
		}
	}
	for _, v := range w.Violations {
		fmt.Fprintln(stderr, v)
	}
	if !ok {
		return 1
	}
	return 0
}

// result is what the workers found.
type result struct {
	mu       sync.Mutex
	tally    sim.Tally
	expected map[sim.Rule]uint64 // the first seed that broke it
	failed   bool
	seed     uint64
	found    []sim.Violation
}

// seeds tells which histories are to be played. It is asked before they are, so that a run which hangs or is killed can
// be repeated.
func (o *options) seeds() string {
	if o.histories == math.MaxInt {
		return fmt.Sprintf("from %d on", o.seed)
	}
	return fmt.Sprintf("%d to %d", o.seed, o.seed+uint64(o.histories)-1)
}

// campaign plays many histories.
func campaign(o options, stdout, stderr io.Writer) int {
	var next atomic.Uint64
	var stop atomic.Bool
	var group sync.WaitGroup
	res := result{expected: map[sim.Rule]uint64{}}
	fmt.Fprintln(stdout, "seeds", o.seeds())
	began := time.Now()
	for range o.workers {
		group.Go(func() { work(o, began, &next, &stop, &res) })
	}
	group.Wait()
	took := time.Since(began)
	fmt.Fprintf(stdout, "%d histories, %d terms, %d events in %v: %.0f histories/s\n", res.tally.Histories,
		res.tally.Terms, res.tally.Events, took.Round(time.Millisecond), float64(res.tally.Histories)/took.Seconds())
	if o.coverage {
		res.tally.Print(stdout)
	}
	return res.verdict(o, stdout, stderr)
}

// work plays histories until there are enough, or one fails.
func work(o options, began time.Time, next *atomic.Uint64, stop *atomic.Bool, res *result) {
	w := sim.NewWorld()
	var tally sim.Tally
	for !stop.Load() {
		i := next.Add(1) - 1
		if i >= uint64(o.histories) || o.duration > 0 && time.Since(began) > o.duration {
			break
		}
		ok := w.Run(o.kind, o.seed+i)
		tally.Add(w)
		if !ok && res.failure(o, w) {
			stop.Store(true)
		}
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	res.tally.Merge(&tally)
}

// failure notes a history that broke a rule; true if that was enough.
func (res *result) failure(o options, w *sim.World) bool {
	res.mu.Lock()
	defer res.mu.Unlock()
	if len(o.expect) == 0 {
		if !res.failed || w.Seed < res.seed {
			res.failed, res.seed = true, w.Seed
			res.found = append(res.found[:0], w.Violations...)
		}
		return true
	}
	for _, v := range w.Violations {
		if _, ok := res.expected[v.Rule]; !ok {
			res.expected[v.Rule] = w.Seed
		}
	}
	return len(res.unbroken(o)) == 0
}

// unbroken returns the expected rules that no history has broken.
func (res *result) unbroken(o options) []string {
	var list []string
	for _, r := range o.expect {
		if _, ok := res.expected[r]; !ok {
			list = append(list, r.String())
		}
	}
	return list
}

func (res *result) verdict(o options, stdout, stderr io.Writer) int {
	if len(o.expect) > 0 {
		for r, seed := range res.expected {
			fmt.Fprintf(stdout, "%v broken by seed %d\n", r, seed)
		}
		if list := res.unbroken(o); len(list) > 0 {
			fmt.Fprintln(stderr, "not broken:", strings.Join(list, ", "))
			return 1
		}
		return 0
	}
	if res.failed { // before what is missing: a run that fails ends early, and then something always is
		report(o.kind, res.seed, res.found, stderr)
		return 1
	}
	if missing := res.tally.Missing(); o.cover && len(missing) > 0 {
		fmt.Fprintln(stderr, "never occurred:", strings.Join(missing, "; "))
		return 1
	}
	return 0
}

// report tells how to see what happened, and writes the timeline.
func report(kind sim.Kind, seed uint64, found []sim.Violation, stderr io.Writer) {
	for _, v := range found {
		fmt.Fprintln(stderr, v)
	}
	fmt.Fprintf(stderr, "seed %d failed; replay it: %s\n", seed, sim.Replay(kind, seed))
	var log sim.Log
	w := sim.NewWorld()
	w.Record(&log)
	w.Run(kind, seed)
	file := fmt.Sprintf("sim-%d.html", seed)
	if err := os.WriteFile(file, w.Timeline(&log), 0o644); err == nil {
		fmt.Fprintln(stderr, "timeline:", file)
	}
}
