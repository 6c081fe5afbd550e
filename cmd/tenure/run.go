package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/ending"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
	"github.com/tenure-go/tenure/cmd/tenure/internal/supervisor"
)

const runLong = `Stand for election and run a command only while leading.

The command runs in a process group of its own, with TENURE_ELECTION, TENURE_ID, TENURE_TOKEN and TENURE_STORE in its
environment. Pass the token on to what it changes, so that a leader that was deposed can be refused there.

When leadership ends for whatever reason, the whole group gets the signal, and what is left of it after three quarters
of the drain is killed: before anybody else can lead, even if tenure itself was killed or frozen meanwhile. Then tenure
stands again, unless --once is given.

When the command exits by itself, tenure gives the seat back and ends with the command's status, unless --restart says
to start it again. A restart keeps the seat.

SIGINT, SIGTERM and SIGHUP end tenure. While it leads, the command gets the signal of --signal, has the drain to stop,
and its status is passed on. While it stands by, it leaves the election and ends with 128+n. A second signal kills the
command at once; a third one ends tenure without giving the seat back.

` + runExitCodes

const runExitCodes = `Exit codes:
  122    leadership was lost, and --once was given
  123    the store failed for good
  125    wrong usage, or tenure itself failed
  126    the command cannot be executed
  127    there is no such command
  128+n  ended by signal n while it stood by
  other  the command's own; 128+n if signal n ended it, so 137 if it did not stop in time`

const runExample = `  tenure run --election nightly -- ./report.sh --all
  tenure run --election relay --restart always --ttl 5s -- ./relay
  tenure run --election billing --meta zone=b --address 10.0.0.7:8080 -- ./billing`

// runFlags are the flags of run.
type runFlags struct {
	election     string
	ttl, drain   time.Duration
	address      string
	meta         []string
	priority     int
	once         bool
	restart      supervisor.Restart
	restartDelay time.Duration
	signal       signalFlag
	noCgroup     bool
}

func newRun(a *app) *cobra.Command {
	f := runFlags{restart: supervisor.RestartNever, signal: signalFlag(syscall.SIGTERM)}
	cmd := &cobra.Command{
		Use:     "run --election NAME [flags] -- COMMAND [ARGUMENT...]",
		Short:   "Run a command only while leading",
		Long:    runLong,
		Example: runExample,
		GroupID: groupLead,
		RunE:    func(cmd *cobra.Command, command []string) error { return a.run(cmd.Context(), f, command) },

		DisableFlagsInUseLine: true,
	}
	f.register(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("election", a.completeElections)
	_ = cmd.RegisterFlagCompletionFunc("restart", cobra.FixedCompletions(
		[]cobra.Completion{"never", "on-failure", "always"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *runFlags) register(flags *pflag.FlagSet) {
	flags.SetInterspersed(false) // what follows the command's name is the command's own
	flags.SortFlags = false
	flags.StringVar(&f.election, "election", "", "`NAME` of the election (required)")
	flags.DurationVar(&f.ttl, "ttl", tenure.DefaultTTL, "length of the lease: how long after a failure others take over")
	flags.DurationVar(&f.drain, "drain", 0, "part of the lease that the command gets to stop (default a fifth of the TTL)")
	flags.StringVar(&f.address, "address", "", "`address` of the leader, for others to see")
	flags.StringArrayVar(&f.meta, "meta", nil, "`KEY=VALUE` for others to see; may be repeated")
	flags.IntVar(&f.priority, "priority", 0, "0: take a free seat at once; down to -10: leave it to others for a while")
	flags.BoolVar(&f.once, "once", false, "end with the first term, even if leadership was lost")
	flags.Var(&f.restart, "restart", "when to start a command that exits again: never, on-failure or always")
	flags.DurationVar(&f.restartDelay, "restart-delay", time.Second, "first pause before a restart; each one doubles")
	flags.Var(&f.signal, "signal", "what asks the command to stop: a `signal`'s name or number")
	flags.BoolVar(&f.noCgroup, "no-cgroup", false, "leave the command in tenure's own cgroup, even if it could get one")
}

func (a *app) run(ctx context.Context, f runFlags, command []string) error {
	options, err := a.runOptions(f, command)
	if err != nil {
		return err
	}
	if a.solo() {
		a.log.Warn("no other process ever sees this store, so this one leads alone", "store", a.storeURL)
	}
	force, stop := untilSecondSignal()
	defer stop()
	options.Force = force
	return a.withStoreToLead(ctx, func(store tenure.Store) error {
		options.Store = store
		result, err := supervisor.Run(ctx, options)
		return concludeRun(result, err)
	})
}

func (a *app) runOptions(f runFlags, command []string) (supervisor.Options, error) {
	if f.election == "" {
		return supervisor.Options{}, usagef("name the election: --election NAME")
	}
	if len(command) == 0 || command[0] == "" {
		return supervisor.Options{}, usagef("there is no command to run: give it after --")
	}
	metadata, err := parseMetadata(f.meta)
	if err != nil {
		return supervisor.Options{}, err
	}
	if f.drain == 0 {
		f.drain = max(f.ttl/5, supervisor.MinDrain)
	}
	return supervisor.Options{
		Election: f.election, ID: a.id, TTL: f.ttl, Drain: f.drain,
		Candidate: []tenure.Option{
			tenure.WithAddress(f.address), tenure.WithMetadata(metadata), tenure.WithPriority(f.priority),
		},
		Command: command, Env: []string{"TENURE_STORE=" + a.storeURL},
		Stdin: asFile(a.stdin), Stdout: asFile(a.stdout), Stderr: asFile(a.stderr), Signal: syscall.Signal(f.signal),
		Once: f.once, Restart: f.restart, RestartDelay: f.restartDelay, NoCgroup: f.noCgroup,
		Logger: a.log,
	}, nil
}

// asFile returns a stream that a command can inherit, nil if it is none.
func asFile(stream any) *os.File {
	file, _ := stream.(*os.File)
	return file
}

func parseMetadata(pairs []string) (map[string]string, error) {
	metadata := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usagef("--meta %q is no KEY=VALUE", pair)
		}
		if _, twice := metadata[key]; twice {
			return nil, usagef("--meta has the key %q twice", key)
		}
		metadata[key] = value
	}
	return metadata, nil
}

// concludeRun finds the exit code of a run.
func concludeRun(result supervisor.Result, err error) error {
	refused, isRefused := errors.AsType[*guard.CommandError](err)
	stopped := errors.Is(err, context.Canceled) || errors.Is(result.Lost, tenure.ErrStopped)
	switch {
	case isRefused:
		return failf(refused.Code, "the command %q cannot be started: %s", refused.Command, refused.Reason)
	case stopped && result.Ran && errors.Is(result.Lost, tenure.ErrStopped), err == nil && result.Lost == nil:
		return exitWith(result.Status)
	case stopped:
		return context.Canceled
	case err != nil:
		return err
	}
	return failf(codeLost, "leadership was lost: %w", result.Lost)
}

// untilSecondSignal returns a context that ends with the second signal that asks tenure to end. The next one finds
// the system's default.
func untilSecondSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	caught := make(chan os.Signal, 2)
	ending.Notify(caught)
	go func() {
		defer signal.Stop(caught)
		for range 2 {
			select {
			case <-caught:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}
