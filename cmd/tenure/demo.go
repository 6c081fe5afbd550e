package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/democmd"
)

func newDemo(a *app) *cobra.Command {
	cmd := democmd.New(a.demoHost())
	cmd.GroupID, cmd.Args = groupLook, noArguments
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if a.solo() {
			return usagef("processes cannot share a store in memory: give another --store, or none for a temporary one")
		}
		return nil
	}
	return cmd
}

// newDemoNode is how the demo starts its nodes.
func newDemoNode(a *app) *cobra.Command {
	cmd := democmd.NewNode(a.demoHost())
	cmd.Args = noArguments
	return cmd
}

func (a *app) demoHost() democmd.Host {
	return democmd.Host{
		Stdin: a.stdin, Stdout: a.stdout, Quiet: &a.quiet, Store: &a.storeURL, Directory: directoryURL, Open: openDemoStore,
	}
}

// openDemoStore opens a store as its nodes and their referee do, of whom any may be the first.
func openDemoStore(ctx context.Context, address string) (tenure.Store, func() error, error) {
	return openStore(ctx, address, orMade)
}
