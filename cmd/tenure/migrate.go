package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

const migrateLong = `Make the tables that the store needs in its database, or bring them up to date.

It can be repeated, and run by many at once; candidates may go on meanwhile.

With --print nothing is done: the SQL goes to the output, for teams that have a migration tool of their own, or whose
processes may not create tables.`

// migrator is a store that keeps its records in tables.
type migrator interface {
	Migrate(ctx context.Context) error
}

func newMigrate(a *app) *cobra.Command {
	var printed bool
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Make the store's tables in its database",
		Long:    migrateLong,
		GroupID: groupOther,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if printed {
				return a.printMigration()
			}
			return a.withStoreSoon(cmd.Context(), orMade, a.migrate)
		},
	}
	cmd.Flags().BoolVar(&printed, "print", false, "print the SQL instead")
	return cmd
}

func (a *app) migrate(ctx context.Context, store tenure.Store) error {
	m, ok := store.(migrator)
	if !ok {
		a.say("this store has no tables: there is nothing to do")
		return nil
	}
	if err := m.Migrate(ctx); err != nil {
		return storeFailed(err)
	}
	a.say("the tables are there and up to date")
	return nil
}

// printMigration does not connect to anything.
func (a *app) printMigration() error {
	u, s, err := locate(a.storeURL)
	if err != nil {
		return err
	}
	if s.schema == nil {
		return usagef("the store %q has no tables", s.names[0]+":")
	}
	text, err := s.schema(u)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}
