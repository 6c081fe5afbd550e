package main

import (
	"github.com/spf13/cobra"
)

const resignLong = `Ask the leader of an election to resign. It stops its work, gives the seat back and leaves it
to the others.

The request goes through the store, so the leader meets it at once where the store pushes changes, else at its next
renewal. A leader that is dead never does. The exit code is 121 if nobody leads.`

func newResign(a *app) *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:               "resign ELECTION",
		Short:             "Ask the leader to resign",
		Long:              resignLong,
		GroupID:           groupOperate,
		Args:              oneElection,
		ValidArgsFunction: a.completeElection,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.resign(cmd, args[0], w) },
	}
	waitFlags(cmd, &w, "its term is over")
	return cmd
}

func (a *app) resign(cmd *cobra.Command, election string, w waiting) error {
	if err := w.check(); err != nil {
		return err
	}
	asked, err := a.ask(cmd.Context(), election, "")
	if err != nil {
		return err
	}
	if !w.wanted {
		a.say("asked %s (token %d) to resign", asked.Leader, asked.Token)
		return nil
	}
	if err := a.awaitEnd(cmd.Context(), election, asked, w); err != nil {
		return err
	}
	a.say("%s (token %d) has resigned", asked.Leader, asked.Token)
	return nil
}
