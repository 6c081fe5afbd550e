package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
)

const waitLong = `Wait until an election has a leader, or with --vacant until it has none, and print how it stands then.

A leader that was not heard of for its TTL, or for whose death the store vouches, is none. But the first look at a
record cannot tell a leader that has just died from one that lives.

The exit code is 124 if the time was over before.`

func newWait(a *app) *cobra.Command {
	var (
		vacant, asJSON bool
		timeout        time.Duration
	)
	cmd := &cobra.Command{
		Use:               "wait ELECTION",
		Short:             "Wait until there is a leader, or none",
		Long:              waitLong,
		GroupID:           groupLook,
		Args:              oneElection,
		ValidArgsFunction: a.completeElection,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel, err := overdueAfter(cmd.Context(), timeout)
			if err != nil {
				return err
			}
			defer cancel()
			wait := func(store tenure.Store) error { return a.wait(ctx, store, args[0], vacant, timeout, asJSON) }
			if vacant {
				return a.withStore(ctx, existing, wait)
			}
			return a.withStoreInTime(ctx, wait)
		},
	}
	cmd.Flags().BoolVar(&vacant, "vacant", false, "wait until nobody leads")
	timeoutFlag(cmd, &timeout)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) wait(
	ctx context.Context, store tenure.Store, election string, vacant bool, timeout time.Duration, asJSON bool,
) error {
	goal := "a leader"
	if vacant {
		goal = "no leader"
	}
	c, err := a.await(ctx, store, election, goal, timeout, func(c tenure.Change) bool { return c.Led() != vacant })
	if err != nil {
		return err
	}
	s := standingOf(election, c)
	switch {
	case asJSON:
		return a.printJSON(s)
	case a.quiet:
		return nil
	case vacant:
		_, err = fmt.Fprintf(a.stdout, "nobody leads %s\n", printable(election))
	default:
		_, err = fmt.Fprintf(a.stdout, "%s leads %s (token %d)\n", printable(s.Leader), printable(election), s.Token)
	}
	return err
}

// timeoutFlag defines the flag that bounds a wait.
func timeoutFlag(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", 0, "how long to wait (default: for as long as it takes)")
}

// overdueAfter bounds a wait by --timeout, which is 0 if it is not bounded.
func overdueAfter(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc, error) {
	switch {
	case timeout < 0:
		return nil, nil, usagef("--timeout %v must not be negative", timeout)
	case timeout == 0:
		return ctx, func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errOverdue)
	return ctx, cancel, nil
}

// await observes an election until it has what it is waited for: the goal, in words.
func (a *app) await(
	ctx context.Context, store tenure.Store, election, goal string, timeout time.Duration,
	reached func(tenure.Change) bool,
) (tenure.Change, error) {
	ctx, cancel, err := overdueAfter(ctx, timeout)
	if err != nil {
		return tenure.Change{}, err
	}
	defer cancel()
	var failure error
	for now, err := range tenure.Observe(ctx, store, election) {
		if failure = err; err != nil {
			a.log.Debug("the store failed", "error", err)
		} else if reached(now) {
			return now, nil
		}
	}
	return tenure.Change{}, gaveUp(ctx, election, goal, timeout, failure)
}

// gaveUp says why a wait is over: with failure if that was the last that was seen of the store.
func gaveUp(ctx context.Context, election, goal string, timeout time.Duration, failure error) error {
	switch {
	case failure != nil:
		return storeFailed(failure)
	case errors.Is(context.Cause(ctx), errOverdue):
		return failf(codeTimeout, "%q did not get %s within %v (--timeout)", election, goal, timeout)
	}
	return ctx.Err()
}
