package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

func newResume(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "resume ELECTION",
		Short:             "Lift a pause",
		Long:              "Lift the pause of an election, so that candidates stand again.",
		GroupID:           groupOperate,
		Args:              oneElection,
		ValidArgsFunction: a.completeElection,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStoreSoon(cmd.Context(), existing, func(ctx context.Context, store tenure.Store) error {
				return a.resume(ctx, store, args[0])
			})
		},
	}
}

func (a *app) resume(ctx context.Context, store tenure.Store, election string) error {
	before, err := store.Load(ctx, election)
	switch {
	case err != nil:
		return storeFailed(err)
	case !before.Exists():
		return failf(codeVacant, "there is no election %q in this store: see \"tenure list\"", election)
	}
	after, err := tenure.LiftPause(ctx, store, election)
	switch {
	case err != nil:
		return storeFailed(err)
	case after.Pause != nil:
		return failf(codeRefused, "%q was resumed, but is paused again by %s", election, printable(after.Pause.By))
	case before.Record.Pause == nil:
		a.say("%s was not paused", election)
	default:
		a.say("resumed %s", election)
	}
	return nil
}
