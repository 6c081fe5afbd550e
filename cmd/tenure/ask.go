package main

import (
	"context"
	"errors"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

// waiting is whether to wait until a request has been followed.
type waiting struct {
	wanted  bool
	timeout time.Duration
}

func waitFlags(cmd *cobra.Command, w *waiting, until string) {
	cmd.Flags().BoolVar(&w.wanted, "wait", false, "wait until "+until)
	timeoutFlag(cmd, &w.timeout)
	cmd.Flags().Lookup("timeout").Usage = "with --wait, how long (default: for as long as it takes)"
}

func (w waiting) check() error {
	switch {
	case w.timeout < 0:
		return usagef("--timeout %v must not be negative", w.timeout)
	case w.timeout > 0 && !w.wanted:
		return usagef("--timeout needs --wait: without it nothing is waited for")
	}
	return nil
}

// ask puts a request to the leader and returns the term that it addresses.
func (a *app) ask(ctx context.Context, election, to string) (asked tenure.Record, err error) {
	err = a.withStoreSoon(ctx, existing, func(ctx context.Context, store tenure.Store) error {
		asked, err = tenure.Ask(ctx, store, election, tenure.Request{To: to, By: a.who()})
		if errors.Is(err, tenure.ErrNotLeader) {
			return failf(codeVacant, "nobody leads %q, so nobody can be asked", election)
		}
		return storeFailed(err)
	})
	return asked, err
}

// awaitEnd waits until the term of a record is over.
func (a *app) awaitEnd(ctx context.Context, election string, term tenure.Record, w waiting) error {
	return a.withStore(ctx, existing, func(store tenure.Store) error {
		_, err := a.await(ctx, store, election, "rid of "+term.Leader, w.timeout, func(c tenure.Change) bool {
			return c.Record.Token > term.Token || !c.Led()
		})
		return err
	})
}

// who says to others who acts: the ID that was given, or the user on this host.
func (a *app) who() string {
	if a.id != "" {
		return a.id
	}
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	return name + "@" + host
}
