package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/probe"
)

const doctorLong = `Examine the store and this machine: whether compare-and-swap is really conditional, between two
connections too, whether changes are pushed, how far acknowledged writes can be relied upon, how long calls take and
which TTL that suggests, and whether the clock runs at its rate.

It writes to an election of its own, "tenure-doctor@" and the host's name, and forgets it in the end; other elections
are not touched. A store that is not there yet it makes. The exit code is 123 if elections in this store are not safe.`

// clockError is the bound on clock-rate error that "tenure run" uses, the library's default.
const clockError = 0.01

func newDoctor(a *app) *cobra.Command {
	var (
		asJSON  bool
		samples int
	)
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Examine the store",
		Long:    doctorLong,
		GroupID: groupOther,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if samples < 1 || samples > 100_000 {
				return usagef("--samples %d must be between 1 and 100000", samples)
			}
			return a.doctor(cmd.Context(), samples, asJSON)
		},
	}
	cmd.Flags().IntVar(&samples, "samples", 200, "how many calls of each kind to time")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// doctor opens the store twice, unless the second one would be another store.
func (a *app) doctor(ctx context.Context, samples int, asJSON bool) error {
	return a.withStore(ctx, orMade, func(store tenure.Store) error {
		host, err := os.Hostname()
		if err != nil {
			host = "localhost"
		}
		p := &probe.Probe{Store: store, Election: "tenure-doctor@" + host, Timeout: a.storeTimeout}
		if a.solo() {
			return a.examine(ctx, p, samples, asJSON)
		}
		return a.withStore(ctx, orMade, func(other tenure.Store) error {
			p.Other = other
			return a.examine(ctx, p, samples, asJSON)
		})
	})
}

// solo reports whether nobody else can ever see the records of the store.
func (a *app) solo() bool {
	_, s, err := locate(a.storeURL)
	return err == nil && s.solo
}

func (a *app) examine(ctx context.Context, p *probe.Probe, samples int, asJSON bool) error {
	if err := p.Begin(ctx); err != nil {
		return storeFailed(fmt.Errorf("making the record of the examination: %w", err))
	}
	d, err := diagnose(ctx, p, samples)
	if forgetting := p.End(ctx); err == nil {
		err = forgetting
	}
	if err != nil {
		return storeFailed(err)
	}
	if a.solo() {
		d.Checks = append(d.Checks, probe.Finding{
			Check: "shared", Result: probe.Warning, Detail: "no other process ever sees this store",
		})
	}
	if err := a.printDiagnosis(d, asJSON); err != nil {
		return err
	}
	return d.verdict()
}
