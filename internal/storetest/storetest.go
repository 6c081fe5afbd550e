// Package storetest is what the tests of stores have in common.
package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// patience bounds how long anything may take on a busy machine.
const patience = time.Minute

// TB is what this package needs of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
	Cleanup(f func())
}

// Held is the record of a term that goes on.
func Held(token uint64, leader string) tenure.Record {
	return tenure.Record{Token: token, Leader: leader, Session: leader + "-session", TTL: time.Minute}
}

// Swap is a CompareAndSwap that has to succeed.
func Swap(tb TB, s tenure.Store, election string, old tenure.Version, record tenure.Record) tenure.Snapshot {
	tb.Helper()
	snapshot, err := s.CompareAndSwap(tb.Context(), election, old, record)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return snapshot
}

// Load is a Load that has to succeed.
func Load(tb TB, s tenure.Store, election string) tenure.Snapshot {
	tb.Helper()
	snapshot, err := s.Load(tb.Context(), election)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return snapshot
}

// Prune is a Prune that has to delete just the elections that are wanted.
func Prune(tb TB, s tenure.Pruner, want ...string) {
	tb.Helper()
	pruned, err := s.Prune(tb.Context(), 0)
	if err != nil || !slices.Equal(pruned, want) {
		tb.Fatalf("Prune returned %q, %v, want %q", pruned, err, want)
	}
}

// Outcome is what an error says of a write.
type Outcome string

// All outcomes. Only Unknown leaves open whether something was written.
const (
	Written    Outcome = "written"
	Conflict   Outcome = "conflict"
	NotApplied Outcome = "not applied"
	Permanent  Outcome = "permanent"
	Unknown    Outcome = "unknown"
)

// OutcomeOf returns what err, or its absence, says of a write.
func OutcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Written
	case errors.Is(err, tenure.ErrConflict):
		return Conflict
	case errors.Is(err, tenure.ErrNotApplied):
		return NotApplied
	case errors.Is(err, tenure.ErrPermanent):
		return Permanent
	}
	return Unknown
}

// Want stops the test unless err says that of a write.
func Want(tb TB, want Outcome, err error) {
	tb.Helper()
	if got := OutcomeOf(err); got != want {
		tb.Fatalf("the outcome is %s, want %s: %v", got, want, err)
	}
}

// Eventually waits until something holds that nothing tells of, and fails the test if it does not come to.
func Eventually(tb TB, what string, holds func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("after %v it was not so that %s", patience, what)
		}
	}
}
