// Command tenure-peers measures tenure beside other libraries that elect a leader, on real servers, and prints tables
// in Markdown. `make bench-peers` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"k8s.io/klog/v2"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/bench/peers/contenders"
	"github.com/tenure-go/tenure/internal/testserver"
)

func main() { bench.Main("tenure-peers", run) }

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	klog.SetLogger(klog.Logger{}) // client-go's elector says much
	if done, err := contenders.Child(ctx, args, stdin, stdout); done {
		return err
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	return bench.WithServers(stderr, func(tb testserver.TB) error {
		report, err := peers.Run(ctx, tb, o.peers, o.plan)
		if err != nil {
			return err
		}
		if o.document != "" {
			return bench.WriteDocument(o.document, "make bench-peers", report.WriteMarkdown)
		}
		report.WriteMarkdown(stdout)
		return nil
	})
}

// options are what the flags say.
type options struct {
	peers    []peers.Peer
	plan     peers.Plan
	document string
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{plan: peers.FullPlan()}
	flags := flag.NewFlagSet("tenure-peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	chosen := flags.String("contenders", "all",
		"those to measure, separated by commas: "+peers.Contenders(contenders.All()).Names())
	short := flags.Bool("short", false, "measure next to nothing, to see that everything works")
	flags.StringVar(&o.document, "write", "", "put the tables into this document, in the place of those of an earlier run")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("there are no arguments, only flags, but got %q", flags.Args())
	}
	if *short {
		o.plan = peers.ShortPlan()
	}
	o.plan.Log = stderr
	var err error
	o.peers, err = peers.Contenders(contenders.All()).Choose(*chosen)
	return o, err
}
