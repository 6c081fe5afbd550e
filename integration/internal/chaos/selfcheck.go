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
		{worker.ActWithoutAsking, []string{"one-leader"}, beds.File, []string{"stop-long"}, 12 * time.Second},
		{FenceOff, []string{"register", "counter", "stale-refused"}, beds.File, []string{"stop-long"}, 20 * time.Second},
		{ForgetfulStore, []string{"rising-tokens"}, beds.File, []string{"wipe"}, 8 * time.Second},
		{worker.BlindSwap, []string{"one-leader", "rising-tokens"}, beds.Redis, []string{"kill"}, 40 * time.Second},
		{worker.SlowClock, []string{"one-leader"}, beds.Redis, []string{"partition", "server-freeze"}, 40 * time.Second},
		{worker.Leak, []string{"leaks"}, beds.File, []string{"stop-long"}, 60 * time.Second},
		{worker.Storm, []string{"load"}, beds.Redis, []string{"stop-short"}, 10 * time.Second},
		{worker.GiveUp, []string{"recovery"}, beds.Redis, []string{"server-kill"}, 10 * time.Second},
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
