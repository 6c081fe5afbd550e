package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

const watchLong = `Print how elections stand, and then each change with its reason, until you interrupt it.

A line has the time, the election, the change, the leader and the token, and the reason. Mere renewals are not
printed. With --json it is one JSON object on a line, with the fields of "status --json" besides.

Changes: first, elected, released, silent, abandoned, returned, asked, paused, resumed, forgotten, lost.`

func newWatch(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "watch ELECTION...",
		Short:             "Print every change of leadership",
		Long:              watchLong,
		GroupID:           groupLook,
		Args:              someElections,
		ValidArgsFunction: a.completeElections,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.withStoreInTime(cmd.Context(), func(store tenure.Store) error {
				return a.watch(cmd.Context(), store, names, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines, for programs")
	return cmd
}

// watch observes all elections at once and ends with the context, or with the first that cannot be observed.
func (a *app) watch(ctx context.Context, store tenure.Store, names []string, asJSON bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var observers sync.WaitGroup
	var output sync.Mutex
	for _, name := range names {
		observers.Go(func() {
			err := a.observe(ctx, store, name, func(c change) error {
				output.Lock()
				defer output.Unlock()
				return a.printChange(c, asJSON)
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	observers.Wait()
	return context.Cause(ctx)
}

// observe tells each change of one election. A failure of the store that may pass is logged.
func (a *app) observe(ctx context.Context, store tenure.Store, election string, tell func(change) error) error {
	var before tenure.Change
	for now, err := range tenure.Observe(ctx, store, election) {
		switch {
		case errors.Is(err, tenure.ErrPermanent), errors.Is(err, tenure.ErrConfig):
			return storeFailed(err)
		case err != nil:
			a.log.Warn("the store failed", "election", election, "error", err)
			continue
		}
		if err := tell(newChange(election, before, now)); err != nil {
			return err
		}
		before = now
	}
	return nil
}

func (a *app) printChange(c change, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(c)
	}
	leader := c.Leader
	if leader == "" {
		leader = "nobody"
	}
	line := fmt.Sprintf("%s  %s  %s  %s  token %d  %s", c.At.Local().Format("2006-01-02 15:04:05.000"),
		printable(c.Election), c.color().paint(a.stdout, pad(c.Change, 9)), printable(leader), c.Token, printable(c.Reason))
	_, err := fmt.Fprintln(a.stdout, line)
	return err
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-len(text)))
}
