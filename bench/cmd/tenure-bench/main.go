// Command tenure-bench measures what elections cost on real stores, beside bare operations of the same servers, and
// prints tables in Markdown. `make bench` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"k8s.io/klog/v2"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/beds"
	"github.com/tenure-go/tenure/internal/testserver"
)

func main() { bench.Main("tenure-bench", run) }

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	klog.SetLogger(klog.Logger{}) // client-go says much of what candidates deal with
	if len(args) > 0 && args[0] == bench.LeadCommand {
		return bench.Lead(ctx, beds.All(), args[1:], stdin, stdout)
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	return bench.WithServers(stderr, func(tb testserver.TB) error {
		report, err := bench.Run(ctx, tb, o.beds, o.plan)
		if err != nil {
			return err
		}
		for _, f := range report.Missed() {
			fmt.Fprintf(stderr, "short of its aim: %s: %s: %s, not %s\n", f.Store, f.What, f.Measured, f.Aim)
		}
		if o.document != "" {
			return report.WriteDocument(o.document)
		}
		report.WriteMarkdown(stdout)
		return nil
	})
}

// options are what the flags say.
type options struct {
	beds     []bench.Bed
	plan     bench.Plan
	document string
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{plan: bench.FullPlan()}
	flags := flag.NewFlagSet("tenure-bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	stores := flags.String("stores", "all", "stores to measure, separated by commas: "+bench.Stores(beds.All()).Names())
	short := flags.Bool("short", false, "measure next to nothing, to see that everything works")
	load := flags.Duration("for", o.plan.Load, "for how long candidates at rest are watched")
	flags.StringVar(&o.document, "write", "", "put the tables into this document, in the place of those of an earlier run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("there are no arguments, only flags, but got %q", flags.Args())
	}
	if *short {
		o.plan = bench.ShortPlan()
	}
	if given(flags, "for") {
		o.plan.Load = *load
	}
	o.plan.Log = stderr
	var err error
	o.beds, err = bench.Stores(beds.All()).Choose(*stores)
	return o, err
}

func given(flags *flag.FlagSet, name string) bool {
	found := false
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
