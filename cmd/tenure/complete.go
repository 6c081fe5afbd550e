package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

// completionTimeout bounds how long a shell waits for the store after a press of the tab key.
const completionTimeout = time.Second

// completeElections completes names of elections that are not named yet.
func (a *app) completeElections(
	cmd *cobra.Command, named []string, _ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if a.prepare(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.storeTimeout = completionTimeout
	var names []cobra.Completion
	_ = a.withStoreSoon(cmd.Context(), existing, func(ctx context.Context, store tenure.Store) error {
		all, err := elections(ctx, store)
		names = slices.DeleteFunc(all, func(name string) bool { return slices.Contains(named, name) })
		return err
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeElection completes the name of the only election of a command.
func (a *app) completeElection(
	cmd *cobra.Command, named []string, prefix string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(named) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeElections(cmd, named, prefix)
}
