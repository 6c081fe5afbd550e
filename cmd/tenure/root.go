package main

import (
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

// app is what all subcommands share: the streams, and the global flags once they are parsed.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	globals
	log *slog.Logger
}

// Groups of subcommands in the help text.
const (
	groupLead    = "lead"
	groupLook    = "look"
	groupOperate = "operate"
	groupOther   = "other"
)

var groups = []*cobra.Group{
	{ID: groupLead, Title: "Lead:"},
	{ID: groupLook, Title: "Look:"},
	{ID: groupOperate, Title: "Operate:"},
	{ID: groupOther, Title: "Other:"},
}

// subcommands are all subcommands, in the order of the help text.
var subcommands = []func(*app) *cobra.Command{
	newRun, newServe,
	newStatus, newList, newWatch, newWait, newProbe,
	newResign, newTransfer, newPause, newResume, newForget, newPrune,
	newDoctor, newMigrate, newDemo, newVersion, newCompletion,
	newDemoNode,
}

const rootLong = `tenure elects one leader among any number of processes, over a store that they share.

It runs a command on one machine at a time, shows who leads, and asks leaders to go. A store is named by its URL:

  file:///path            a directory, for the processes of one host (the default: one in your state directory)
  memory:                 this process alone, to try things
  postgres://host/name    a table of a PostgreSQL database
  mysql://host/name       a table of a MySQL or MariaDB database
  sqlite:///path          a table of an SQLite database, for the processes of one host
  nats://host/bucket      a key-value bucket of NATS JetStream
  etcd://host,host        an etcd cluster
  redis://host            a Redis or Valkey server, Sentinels or a Cluster
  memcached://host        a memcached server, which may forget
  s3://bucket             a bucket of Amazon S3 or a compatible server
  azblob://account/name   a container of Azure Blob Storage
  kubernetes://namespace  Leases of Kubernetes' API, if built with -tags kubernetes

Every global flag has an environment variable, named in brackets. A flag on the command line wins.

` + exitCodes

func init() { cobra.EnableCommandSorting = false } // they are in an order that helps

// newRoot returns the command with all its subcommands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:               "tenure",
		Short:             "Leader election over the store that you have",
		Long:              rootLong,
		Args:              knownCommand,
		Run:               func(cmd *cobra.Command, _ []string) { _ = cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.prepare(cmd) },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %q", explainFlag(err), cmd.CommandPath()+" --help")
	})
	root.AddGroup(groups...)
	root.SetHelpCommand(newHelp())
	a.register(root.PersistentFlags())
	for _, subcommand := range subcommands {
		root.AddCommand(subcommand(a))
	}
	return root
}

// knownCommand refuses what is no subcommand, in one line.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	similar := cmd.SuggestionsFor(args[0])
	if len(similar) == 0 {
		return usagef("there is no command %q; see %q", args[0], "tenure --help")
	}
	return usagef("there is no command %q; did you mean %s?", args[0], strings.Join(similar, " or "))
}

// newHelp replaces the default, which answers a wrong name with a page of text and success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show the help of a command",
		GroupID: groupOther,
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || target == cmd.Root() && len(rest) > 0 {
				return knownCommand(cmd.Root(), args)
			}
			return target.Help()
		},
	}
}
