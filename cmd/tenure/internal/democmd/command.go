// Package democmd is the command line of the demo. It serves two programs: the command tenure, as one of its
// subcommands, and the program demo, which is compiled in seconds since it needs no client of any server.
package democmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/cmd/tenure/internal/demo"
	"github.com/tenure-go/tenure/cmd/tenure/internal/terminal"
)

const long = `Watch leadership move between real processes while leaders are killed and frozen.

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

// OverlapCode is the exit code after [ErrBroken].
const OverlapCode = 1

// ErrBroken is returned by a demo in which two led at once, or which saw another rule broken. The summary, which was
// printed, says which.
var ErrBroken = errors.New("the demo found a rule broken")

// Host is the program that offers the demo. All fields are needed.
type Host struct {
	Stdin  io.Reader
	Stdout io.Writer
	// Quiet is whether the user wants nothing but results.
	Quiet *bool
	// Store is the address of the store that the user named. It is empty for one in a temporary directory, whose address
	// Directory returns. Open opens either.
	Store     *string
	Directory func(path string) string
	Open      demo.Opener
}

// command is the demo with its flags.
type command struct {
	Host
	demo.Options
	faults []string
	html   string
	json   bool
}

// New returns the command that runs a demo.
func New(host Host) *cobra.Command {
	c := &command{Host: host}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch leadership move while leaders are killed and frozen",
		Long:  long,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.IntVar(&c.Nodes, "nodes", 3, "how many processes stand for election")
	flags.DurationVar(&c.For, "for", 30*time.Second, "how long it lasts")
	flags.DurationVar(&c.TTL, "ttl", 2*time.Second, "TTL of the leaders' leases")
	flags.Uint64Var(&c.Seed, "seed", 0, "`number` that makes the same faults again (default: one is drawn)")
	flags.StringSliceVar(&c.faults, "faults", nil, "draw only from these `faults` (default: all)")
	flags.StringVar(&c.Election, "election", "tenure-demo", "`name` of the election")
	flags.StringVar(&c.html, "html", "", "`file` of the timeline (default: one in the temporary directory)")
	flags.BoolVar(&c.Unsafe, "unsafe", false, "take the protection out, to see that the check finds it")
	flags.BoolVar(&c.json, "json", false, "print JSON, for programs")
	return cmd
}

// NewNode returns the hidden command by which the demo starts its nodes.
func NewNode(host Host) *cobra.Command {
	return &cobra.Command{
		Use:    demo.NodeArgument,
		Short:  "Be a node of a demo",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo.Node(cmd.Context(), host.Open, host.Stdin, host.Stdout)
		},
	}
}

func (c *command) run(ctx context.Context) (err error) {
	if err := c.complete(); err != nil {
		return err
	}
	if c.Options.Store == "" {
		if err := c.temporaryStore(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(c.Remove)) }()
	}
	timeline, err := openTimeline(c.html)
	if err != nil {
		return err
	}
	result, err := demo.Run(ctx, c.Options)
	if result == nil {
		_ = timeline.Close() // nil is fine
		return err
	}
	c.Display.Summary(result.Summary)
	if err := c.writeTimeline(ctx.Err() != nil, timeline, result); err != nil {
		return err
	}
	if !result.Findings.Clean() {
		return ErrBroken // which matters more than why the demo ended
	}
	return err
}

// complete checks the flags and fills in the rest.
func (c *command) complete() (err error) {
	if c.Options.Faults, err = demo.ParseFaults(c.faults); err != nil {
		return fmt.Errorf("--faults: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the program that is to be the nodes cannot be found: %w", err)
	}
	c.Program, c.Options.Store, c.Options.Open = []string{program, demo.NodeArgument}, *c.Host.Store, c.Host.Open
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1e6) + 1
	}
	c.Display = c.display()
	return c.Check()
}

// display returns what suits the user's wish and terminal.
func (c *command) display() demo.Display {
	lines := demo.Lines{Out: c.Stdout}
	switch {
	case c.json:
		return demo.JSON{Out: c.Stdout}
	case *c.Quiet:
		return demo.Quiet{Lines: lines}
	case terminal.Is(c.Stdout) && !terminal.Dumb():
		return &demo.Table{
			Out: c.Stdout, Color: terminal.Colored(c.Stdout),
			Size: func() (columns, rows int) { return terminal.Size(c.Stdout) },
		}
	}
	return lines
}

// temporaryStore makes the directory of a store that lasts as long as the demo.
func (c *command) temporaryStore() error {
	dir, err := os.MkdirTemp("", "tenure-demo-")
	if err != nil {
		return fmt.Errorf("a temporary directory cannot be made: %w; set TMPDIR to a directory that can be written", err)
	}
	c.Options.Store, c.Remove = c.Directory(dir), dir
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
		return nil, fmt.Errorf("--html: the timeline cannot be written: %w", err)
	}
	return file, nil
}

// writeTimeline writes the timeline and says where it is. Without a file of the user's it makes one, unless the demo
// was ended early: that leaves nothing behind.
func (c *command) writeTimeline(early bool, file *os.File, result *demo.Result) (err error) {
	if file == nil {
		if early {
			return nil
		}
		if file, err = os.CreateTemp("", "tenure-demo-*.html"); err != nil {
			return fmt.Errorf("the timeline cannot be written: %w; give --html", err)
		}
	}
	if err := errors.Join(result.WriteTimeline(file), file.Close()); err != nil {
		return fmt.Errorf("the timeline cannot be written: %w", err)
	}
	if !c.json {
		fmt.Fprintf(c.Stdout, "\ntimeline: %s\n", file.Name())
	}
	return nil
}
