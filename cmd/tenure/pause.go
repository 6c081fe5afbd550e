package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

const pauseLong = `Pause an election: the leader stops its work and gives the seat back, and nobody leads until
"tenure resume".

An election that does not exist yet can be paused too. A pause outlives every process and every restart.`

func newPause(a *app) *cobra.Command {
	var (
		w      waiting
		reason string
	)
	cmd := &cobra.Command{
		Use:               "pause ELECTION",
		Short:             "Keep everybody from leading",
		Long:              pauseLong,
		GroupID:           groupOperate,
		Args:              oneElection,
		ValidArgsFunction: a.completeElection,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.pause(cmd, args[0], reason, w) },
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`text` that tells others why")
	waitFlags(cmd, &w, "nobody leads any more")
	return cmd
}

func (a *app) pause(cmd *cobra.Command, election, reason string, w waiting) error {
	if err := w.check(); err != nil {
		return err
	}
	var paused tenure.Record
	err := a.withStoreSoon(cmd.Context(), orMade, func(ctx context.Context, store tenure.Store) (err error) {
		paused, err = tenure.SetPause(ctx, store, election, tenure.Pause{By: a.who(), Reason: reason})
		return storeFailed(err)
	})
	if err != nil {
		return err
	}
	if w.wanted && !paused.Vacant() {
		if err := a.awaitEnd(cmd.Context(), election, paused, w); err != nil {
			return err
		}
		paused.Leader = ""
	}
	if paused.Vacant() {
		a.say("paused %s: nobody leads", election)
	} else {
		a.say("paused %s: %s (token %d) is asked to go", election, paused.Leader, paused.Token)
	}
	return nil
}
