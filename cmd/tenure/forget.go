package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/terminal"
)

const forgetLong = `Forget an election that nobody uses any more: its record is emptied down to its token, so that
tokens never fall if somebody uses the name again. A pause stays.

It asks first, unless --yes is given. A record that names a leader is watched for its TTL first, and left alone as
soon as the leader turns out to live: the exit code is then 120.`

func newForget(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "forget ELECTION",
		Short:             "Empty the record of an unused election",
		Long:              forgetLong,
		GroupID:           groupOperate,
		Args:              oneElection,
		ValidArgsFunction: a.completeElection,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), existing, func(store tenure.Store) error {
				return a.forget(cmd.Context(), store, args[0], yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) forget(ctx context.Context, store tenure.Store, election string, yes bool) error {
	now, err := a.loadSoon(ctx, store, election)
	switch {
	case err != nil:
		return err
	case !now.Exists() || now.Record.Forgotten:
		return failf(codeVacant, "there is no election %q in this store: see \"tenure list\"", election)
	}
	if !yes {
		if err := a.confirm(ctx, question(election, now), "forgotten"); err != nil {
			return err
		}
	}
	// A leader in the record is watched first, for its TTL and a hundredth of that.
	ctx, cancel := context.WithTimeout(ctx, now.Record.TTL+now.Record.TTL/50+a.storeTimeout)
	defer cancel()
	switch err := tenure.Forget(ctx, store, election); {
	case errors.Is(err, tenure.ErrHeld):
		return failf(codeRefused, "%q is in use: ask its leader to resign and stop its candidates first", election)
	case err != nil:
		return storeFailed(err)
	}
	a.say("forgot %s; its token stays %d", election, now.Record.Token)
	return nil
}

func (a *app) loadSoon(ctx context.Context, store tenure.Store, election string) (tenure.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, a.storeTimeout)
	defer cancel()
	now, err := store.Load(ctx, election)
	return now, storeFailed(err)
}

func question(election string, now tenure.Snapshot) string {
	r := now.Record
	if r.Vacant() {
		return fmt.Sprintf("Forget the election %q (last token %d)?", election, r.Token)
	}
	return fmt.Sprintf("Forget the election %q? Its record names a leader, %s (token %d), which is watched for %v first.",
		election, printable(r.Leader), r.Token, r.TTL.Round(time.Millisecond))
}

// confirm asks the user, and returns an error unless the answer is yes. undone is what then was not done.
func (a *app) confirm(ctx context.Context, question, undone string) error {
	if !terminal.Is(a.stdin) {
		return usagef("nobody can be asked, since the input is no terminal: give --yes if you are sure")
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(a.stdin).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case text := <-answer:
		if text == "y" || text == "yes" {
			return nil
		}
		return failf(codeRefused, "nothing was %s", undone)
	}
}
