package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

const statusLong = `Show who leads: one look at each election that is named, or at all that the store can list.

One look shows what the record says; it cannot prove that the leader lives. RENEWED is by the leader's own clock. Only
a store that can vouch for the death of a process says more: the seat is then noted as abandoned. To know for
certain, watch the election for one TTL.

The exit code is 121 if elections are named and one of them has no leader.`

func newStatus(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "status [ELECTION...]",
		Short:             "Show who leads",
		Long:              statusLong,
		GroupID:           groupLook,
		Args:              anyElections,
		ValidArgsFunction: a.completeElections,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.withStoreSoon(cmd.Context(), existing, func(ctx context.Context, store tenure.Store) error {
				return a.status(ctx, store, names, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) status(ctx context.Context, store tenure.Store, names []string, asJSON bool) error {
	named := len(names) > 0
	if !named {
		var err error
		if names, err = elections(ctx, store); err != nil {
			return err
		}
	}
	standings, failed := lookAll(ctx, store, names)
	if len(standings) == 0 && failed != nil {
		return storeFailed(failed)
	}
	if !named {
		standings = withoutForgotten(standings)
	}
	if err := a.printStandings(standings, asJSON); err != nil {
		return err
	}
	if failed == nil && named && !allLed(standings) {
		return exitWith(codeVacant)
	}
	return storeFailed(failed)
}

// lookAll loads all elections. Those that fail are missing from the result, and named in the error.
func lookAll(ctx context.Context, store tenure.Store, names []string) ([]standing, error) {
	standings := make([]standing, 0, len(names))
	var failed []error
	for _, name := range names {
		snapshot, err := store.Load(ctx, name)
		if err != nil {
			failed = append(failed, fmt.Errorf("loading %q: %w", name, err))
			continue
		}
		standings = append(standings, standingOf(name, tenure.Change{
			Record: snapshot.Record, Exists: snapshot.Exists(), Abandoned: snapshot.Abandoned,
		}))
	}
	return standings, errors.Join(failed...)
}

func withoutForgotten(all []standing) []standing {
	var used []standing
	for _, s := range all {
		if s.State != stateForgotten {
			used = append(used, s)
		}
	}
	return used
}

func allLed(standings []standing) bool {
	for _, s := range standings {
		if s.State != stateHeld {
			return false
		}
	}
	return true
}

func (a *app) printStandings(standings []standing, asJSON bool) error {
	if asJSON {
		return a.printJSON(append([]standing{}, standings...)) // never null
	}
	if len(standings) == 0 {
		a.say("there is no election in this store yet")
		return nil
	}
	now := time.Now()
	t := table{head: []string{"ELECTION", "LEADER", "TOKEN", "SINCE", "RENEWED", "ADDRESS", "NOTE"}}
	for _, s := range standings {
		t.add(cell{text: s.Election}, cell{s.Leader, s.color()}, cell{text: fmt.Sprint(s.Token)},
			cell{text: ago(now, s.Since)}, cell{text: ago(now, s.Renewed)}, cell{text: s.Address},
			cell{s.note(now), yellow})
	}
	return t.write(a.stdout)
}

func (s standing) color() color {
	switch s.State {
	case stateHeld:
		return green
	case stateAbandoned, stateSilent:
		return red
	}
	return plain
}

// say tells the user something that is no result.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}
