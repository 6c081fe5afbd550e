package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/demo"
)

const demoLong = `Watch leadership move between real processes while leaders are killed and frozen.

The demo starts nodes, which are processes of their own, and has them elect a leader over a store: by default a file
store in a temporary directory, which it removes in the end. Then it draws at random:

  kill       kill -9 of the leader
  freeze     SIGSTOP of the leader for longer than its lease, then SIGCONT (not on Windows)
  blink      the same for less than the TTL
  resign     a request to the leader, through the store alone, to resign
  transfer   a request to transfer the seat to a certain node
  stop       an orderly end of the leader's process, as for an upgrade
  follower   kill -9 of a node that does not lead
  pause      a pause of the election, and its end

Nodes that were killed or stopped come back after a moment. All the while each node asks every millisecond whether it
leads, and the demo checks that no two of them were ever told yes at the same time. With --unsafe the nodes remember
that they were elected instead of asking, as many a program does: then the check has to find overlaps.

It ends with a summary and an HTML timeline. The exit code is 1 if an overlap was found. Ctrl-C ends it early; nothing
is left behind.`

// demoFlags are the flags of the demo.
type demoFlags struct {
	demo.Options
	faults []string
	html   string
	json   bool
}

func newDemo(a *app) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "Watch leadership move while leaders are killed and frozen",
		Long:    demoLong,
		GroupID: groupLook,
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.Nodes, "nodes", 3, "how many processes stand for election")
	flags.DurationVar(&f.For, "for", 30*time.Second, "how long it lasts")
	flags.DurationVar(&f.TTL, "ttl", 2*time.Second, "TTL of the leaders' leases")
	flags.Uint64Var(&f.Seed, "seed", 0, "`number` that makes the same faults again (default: one is drawn)")
	flags.StringSliceVar(&f.faults, "faults", nil, "draw only from these `faults` (default: all)")
	flags.StringVar(&f.Election, "election", "tenure-demo", "`name` of the election")
	flags.StringVar(&f.html, "html", "", "`file` of the timeline (default: one in the temporary directory)")
	flags.BoolVar(&f.Unsafe, "unsafe", false, "take the protection out, to see that the check finds it")
	jsonFlag(cmd, &f.json)
	return cmd
}

// newDemoNode is how the demo starts its nodes.
func newDemoNode(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    demo.NodeArgument,
		Short:  "Be a node of a demo",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo.Node(cmd.Context(), openDemoStore, a.stdin, a.stdout)
		},
	}
}

func (a *app) demo(ctx context.Context, f demoFlags) (err error) {
	if err := a.completeDemo(&f); err != nil {
		return err
	}
	if f.Store == "" {
		if err := temporaryStore(&f.Options); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.Remove)) }()
	}
	timeline, err := openTimeline(f.html)
	if err != nil {
		return err
	}
	result, err := demo.Run(ctx, f.Options)
	if result == nil {
		_ = timeline.Close() // nil is fine
		return err
	}
	f.Display.Summary(result.Summary)
	if err := a.writeTimeline(ctx.Err() != nil, f, timeline, result); err != nil {
		return err
	}
	if !result.Findings.Clean() {
		return &exitError{codeOverlap, err}
	}
	return err
}

// codeOverlap is the exit code of a demo in which two led at once, or which saw another rule broken.
const codeOverlap = 1

// completeDemo checks the flags and fills in the rest.
func (a *app) completeDemo(f *demoFlags) (err error) {
	if f.Options.Faults, err = demo.ParseFaults(f.faults); err != nil {
		return usagef("--faults: %w", err)
	}
	if u, err := url.Parse(a.storeURL); err == nil && u.Scheme == memoryScheme.names[0] {
		return usagef("processes cannot share a store in memory: give another --store, or none for a temporary one")
	}
	program, err := os.Executable()
	if err != nil {
		return usagef("the program that is to be the nodes cannot be found: %w", err)
	}
	f.Program, f.Store, f.Open = []string{program, demo.NodeArgument}, a.storeURL, openDemoStore
	if f.Seed == 0 {
		f.Seed = rand.Uint64N(1e6) + 1
	}
	f.Display = a.display(f.json)
	return f.Check()
}

// display returns what suits the user's wish and terminal.
func (a *app) display(asJSON bool) demo.Display {
	lines := demo.Lines{Out: a.stdout}
	switch {
	case asJSON:
		return demo.JSON{Out: a.stdout}
	case a.quiet:
		return demo.Quiet{Lines: lines}
	case isTerminal(a.stdout) && os.Getenv("TERM") != "dumb":
		return &demo.Table{
			Out: a.stdout, Color: colored(a.stdout),
			Size: func() (columns, rows int) { return terminalSize(a.stdout) },
		}
	}
	return lines
}

// terminalSize returns the size of the terminal that out is, or the usual one.
func terminalSize(out io.Writer) (columns, rows int) {
	if file, ok := out.(*os.File); ok {
		columns, rows, err := term.GetSize(int(file.Fd()))
		if err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// temporaryStore makes the directory of a store that lasts as long as the demo.
func temporaryStore(o *demo.Options) error {
	dir, err := os.MkdirTemp("", "tenure-demo-")
	if err != nil {
		return usagef("a temporary directory cannot be made: %w; give --store", err)
	}
	path := filepath.ToSlash(dir)
	if path[0] != '/' {
		path = "/" + path
	}
	o.Store, o.Remove = (&url.URL{Scheme: fileScheme.names[0], Path: path}).String(), dir
	return nil
}

// openTimeline opens the file that the user wants the timeline in, nil for none: a file that cannot be written must not
// show only in the end.
func openTimeline(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, usagef("--html: the timeline cannot be written: %w", err)
	}
	return file, nil
}

// writeTimeline writes the timeline and says where it is. Without a file of the user's it makes one, unless the demo
// was ended early: that leaves nothing behind.
func (a *app) writeTimeline(early bool, f demoFlags, file *os.File, result *demo.Result) (err error) {
	if file == nil {
		if early {
			return nil
		}
		if file, err = os.CreateTemp("", "tenure-demo-*.html"); err != nil {
			return usagef("the timeline cannot be written: %w; give --html", err)
		}
	}
	if err := errors.Join(result.WriteTimeline(file), file.Close()); err != nil {
		return usagef("the timeline cannot be written: %w", err)
	}
	if !f.json {
		fmt.Fprintf(a.stdout, "\ntimeline: %s\n", file.Name())
	}
	return nil
}

// openDemoStore opens a store as its nodes and their referee do, of whom any may be the first.
func openDemoStore(ctx context.Context, address string) (tenure.Store, func() error, error) {
	return openStore(ctx, address, orMade)
}
