//go:build linux

package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/nemesis"
	"github.com/tenure-go/tenure/integration/internal/worker"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Plant is a protection that is switched off in a run that must then fail.
type Plant struct {
	// Protection is the one.
	Protection string
	// Rules are those of which at least one has to be found broken.
	Rules []string
	// Bed, Faults and For are of a run that brings the loss of it to light.
	Bed    func() beds.Bed
	Faults []string
	For    time.Duration
}

// Plants returns one for each protection.
func Plants() []Plant {
	return []Plant{
		{
			Protection: worker.ActWithoutAsking, Rules: []string{"one-leader"},
			Bed: beds.File, Faults: []string{"stop-long"}, For: 12 * time.Second,
		},
		{
			Protection: FenceOff, Rules: []string{"register", "counter", "stale-refused"},
			Bed: beds.File, Faults: []string{"stop-long"}, For: 20 * time.Second,
		},
		{
			Protection: ForgetfulStore, Rules: []string{"rising-tokens"},
			Bed: beds.File, Faults: []string{"wipe"}, For: 8 * time.Second,
		},
		{
			Protection: worker.BlindSwap, Rules: []string{"one-leader", "rising-tokens"},
			Bed: beds.Redis, Faults: []string{"kill"}, For: 40 * time.Second,
		},
		{
			Protection: worker.SlowClock, Rules: []string{"one-leader"},
			Bed: beds.Redis, Faults: []string{"partition", "replies-lost", "half-open"}, For: 40 * time.Second,
		},
		{ // A long run sees it in the trend, a short one when the process ends.
			Protection: worker.Leak, Rules: []string{"leaks", "processes"},
			Bed: beds.File, Faults: []string{"stop-long"}, For: 25 * time.Second,
		},
		{
			Protection: worker.Storm, Rules: []string{"load"},
			Bed: beds.Redis, Faults: []string{"stop-short"}, For: 10 * time.Second,
		},
		{
			Protection: worker.GiveUp, Rules: []string{"recovery"},
			Bed: beds.Redis, Faults: []string{"server-kill"}, For: 10 * time.Second,
		},
	}
}

// Check makes the run without the protection, and returns an error unless that was found.
func (p Plant) Check(ctx context.Context, tb testserver.TB, o Options) error {
	faults, err := nemesis.Find(p.Faults)
	if err != nil {
		return err
	}
	o.Bed, o.Faults, o.For, o.Unsafe, o.LibraryOnly = p.Bed(), faults, p.For, p.Protection, true
	o.Dir = filepath.Join(o.Dir, p.Protection)
	result, err := Run(ctx, tb, o)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Protection, err)
	}
	var verdicts []string
	for _, id := range p.Rules {
		row := result.Row(id)
		if row.Verdict == check.Violated {
			fmt.Fprintf(o.Log, "%s was found: %s\n", p.Protection, row.Findings[0].Text)
			return nil
		}
		verdicts = append(verdicts, fmt.Sprintf("%s: %s, %s", id, row.Verdict, row.Note))
	}
	return fmt.Errorf("without the protection %q nothing was found (%s); its history is in %s",
		p.Protection, strings.Join(verdicts, "; "), o.Dir)
}
