package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

const pruneLong = `Delete the records of elections that nobody uses any more, and print their names, one on a line:
those that are vacant, not paused, and unchanged for as long as --unused says.

No token falls by that: the store keeps a floor above which the tokens of new records start. There is no way back, but
none is needed either, since an election whose record was deleted begins anew with its next candidate.

It asks first, unless --yes is given.`

// longUnused is so long that an election which is only led from time to time is not taken for one that nobody uses.
const longUnused = 30 * 24 * time.Hour

func newPrune(a *app) *cobra.Command {
	var (
		unused      time.Duration
		yes, asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "prune",
		Short:   "Delete the records of unused elections",
		Long:    pruneLong,
		GroupID: groupOperate,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if unused < 0 {
				return usagef("--unused %v must not be negative", unused)
			}
			if !yes {
				question := fmt.Sprintf("Delete the records of all elections that nobody has used for %v?", unused)
				if err := a.confirm(cmd.Context(), question, "deleted"); err != nil {
					return err
				}
			}
			return a.withStoreSoon(cmd.Context(), existing, func(ctx context.Context, store tenure.Store) error {
				return a.prune(ctx, store, unused, asJSON)
			})
		},
	}
	cmd.Flags().DurationVar(&unused, "unused", longUnused, "for how long nobody has used them")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// prune prints what was deleted even if not all could be.
func (a *app) prune(ctx context.Context, store tenure.Store, unused time.Duration, asJSON bool) error {
	pruner, ok := store.(tenure.Pruner)
	if !ok {
		return usagef("this store cannot delete records: empty them with \"tenure forget\"")
	}
	names, pruning := pruner.Prune(ctx, unused)
	if asJSON {
		if err := a.printJSON(append([]string{}, names...)); err != nil {
			return err
		}
		return storeFailed(pruning)
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(a.stdout, name); err != nil {
			return err
		}
	}
	if pruning == nil && len(names) == 0 {
		a.say("no election was unused for %v", unused)
	}
	return storeFailed(pruning)
}
