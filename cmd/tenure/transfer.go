package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

const transferLong = `Ask the leader of an election to hand over to another candidate. It stops its work and gives the
seat back, kept for the candidate with that ID, which takes it at once if it stands. If it does not come within one
TTL, others may.

The exit code is 121 if nobody leads, and with --wait 120 if the seat went to somebody else.`

func newTransfer(a *app) *cobra.Command {
	var (
		w  waiting
		to string
	)
	cmd := &cobra.Command{
		Use:               "transfer ELECTION --to ID",
		Short:             "Ask the leader to hand over to another",
		Long:              transferLong,
		GroupID:           groupOperate,
		Args:              oneElection,
		ValidArgsFunction: a.completeElection,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.transfer(cmd, args[0], to, w) },
	}
	cmd.Flags().StringVar(&to, "to", "", "`ID` of the candidate that shall lead")
	waitFlags(cmd, &w, "it leads")
	return cmd
}

func (a *app) transfer(cmd *cobra.Command, election, to string, w waiting) error {
	if to == "" {
		return usagef("say who shall lead: --to ID")
	}
	if err := w.check(); err != nil {
		return err
	}
	asked, err := a.askToHandOver(cmd.Context(), election, to)
	switch {
	case err != nil:
		return err
	case asked.Leader == to:
		a.say("%s leads already (token %d)", to, asked.Token)
	case w.wanted:
		return a.awaitHeir(cmd, election, to, asked, w)
	default:
		a.say("asked %s (token %d) to hand over to %s", asked.Leader, asked.Token, to)
	}
	return nil
}

// askToHandOver returns the term that is asked, or that of the candidate to if it leads already.
func (a *app) askToHandOver(ctx context.Context, election, to string) (tenure.Record, error) {
	var now tenure.Snapshot
	err := a.withStoreSoon(ctx, existing, func(ctx context.Context, store tenure.Store) (err error) {
		now, err = store.Load(ctx, election)
		return storeFailed(err)
	})
	if err != nil || now.Record.Leader == to && !now.Abandoned {
		return now.Record, err
	}
	return a.ask(ctx, election, to)
}

// awaitHeir waits until somebody leads after the term that was asked, and says whether it is the right one.
func (a *app) awaitHeir(cmd *cobra.Command, election, to string, asked tenure.Record, w waiting) error {
	return a.withStore(cmd.Context(), existing, func(store tenure.Store) error {
		next, err := a.await(cmd.Context(), store, election, "a new leader", w.timeout, func(c tenure.Change) bool {
			return c.Record.Token > asked.Token && !c.Record.Vacant()
		})
		switch {
		case err != nil:
			return err
		case next.Record.Leader != to:
			return failf(codeRefused, "the seat went to %q instead: %q did not take it", next.Record.Leader, to)
		}
		a.say("%s leads (token %d)", to, next.Record.Token)
		return nil
	})
}
