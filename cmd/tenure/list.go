package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

func newList(a *app) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the elections",
		Long:    "List the names of the elections in the store, one on a line, without those that were forgotten.",
		GroupID: groupLook,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStoreSoon(cmd.Context(), existing, func(ctx context.Context, store tenure.Store) error {
				return a.list(ctx, store, all, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list forgotten elections too")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) list(ctx context.Context, store tenure.Store, all, asJSON bool) error {
	names, err := elections(ctx, store)
	if err == nil && !all {
		names, err = used(ctx, store, names)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(append([]string{}, names...)) // never null
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(a.stdout, name); err != nil {
			return err
		}
	}
	return nil
}

// used returns the elections that were not forgotten.
func used(ctx context.Context, store tenure.Store, names []string) ([]string, error) {
	standings, err := lookAll(ctx, store, names)
	if err != nil {
		return nil, storeFailed(err)
	}
	names = nil
	for _, s := range withoutForgotten(standings) {
		names = append(names, s.Election)
	}
	return names, nil
}

// elections lists all elections of a store, if it can name them.
func elections(ctx context.Context, store tenure.Store) ([]string, error) {
	lister, ok := store.(tenure.Lister)
	if !ok {
		return nil, usagef("this store cannot list its elections: name the ones that you mean")
	}
	names, err := lister.List(ctx)
	return names, storeFailed(err)
}
