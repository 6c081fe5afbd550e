package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// globals are the flags that every subcommand has.
type globals struct {
	storeURL       string
	id             string
	storeTimeout   time.Duration
	quiet, verbose bool
}

// register defines the global flags. Each names its environment variable in its usage text.
func (g *globals) register(flags *pflag.FlagSet) {
	flags.StringVar(&g.storeURL, "store", "", "`URL` of the store (default: a file store in your state directory)")
	flags.StringVar(&g.id, "id", "", "`ID` under which you act: the candidate's, or who asks (default: made up)")
	flags.DurationVar(&g.storeTimeout, "store-timeout", 10*time.Second, "how long to wait for the store, except in run")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "print nothing but results and errors")
	flags.BoolVarP(&g.verbose, "verbose", "v", false, "log every decision to stderr")
	flags.VisitAll(func(f *pflag.Flag) { f.Usage += " [$" + variable(f) + "]" })
}

// variable returns the name of the environment variable of a global flag.
func variable(f *pflag.Flag) string {
	return "TENURE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// prepare completes what all subcommands share, once the command line is parsed.
func (a *app) prepare(cmd *cobra.Command) error {
	if err := fromEnvironment(cmd.Root().PersistentFlags()); err != nil {
		return err
	}
	a.log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: a.level()}))
	return a.check()
}

// fromEnvironment sets the global flags that the command line left alone. An empty variable counts as unset.
func fromEnvironment(flags *pflag.FlagSet) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		value := os.Getenv(variable(f))
		if f.Changed || value == "" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			wrong = append(wrong, fmt.Errorf("the environment variable %s is %q: want a %s", variable(f), value, f.Value.Type()))
		}
	})
	if len(wrong) > 0 {
		return &exitError{codeFailed, errors.Join(wrong...)}
	}
	return nil
}

func (g *globals) check() error {
	switch {
	case g.quiet && g.verbose:
		return usagef("--quiet and --verbose contradict each other: give one of them")
	case g.storeTimeout <= 0:
		return usagef("--store-timeout %v must be positive", g.storeTimeout)
	}
	return nil
}

func (g *globals) level() slog.Level {
	switch {
	case g.quiet:
		return slog.LevelError
	case g.verbose:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
