package tenuretest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// prune returns the names of what was pruned, records of other rules and earlier runs among them.
func (c *trial) prune(unused time.Duration) (names []string) {
	c.Helper()
	err := c.accepted(func(ctx context.Context) error {
		pruned, err := c.store.(tenure.Pruner).Prune(ctx, unused)
		names = append(names, pruned...)
		return err
	})
	if err != nil {
		c.fail("Prune(%v) returned the error %v", unused, err)
	}
	return names
}

// vacated creates a record whose leader, of the given term, has resigned.
func (c *trial) vacated(token uint64) (election string, current tenure.Snapshot) {
	c.Helper()
	election = c.name()
	record := c.held()
	record.Token = token
	created := c.create(election, record)
	return election, c.swap(election, created.Version, vacant(record))
}

func pruneDeletes(c *trial) {
	resigned, _ := c.vacated(c.floor + 1)
	forgotten, current := c.vacated(c.floor + 1)
	c.swap(forgotten, current.Version, tenure.Record{Token: c.floor + 1, Forgotten: true})
	names := c.prune(0)
	for _, election := range []string{resigned, forgotten} {
		if c.load(election).Exists() {
			c.fail("the record of %q still exists", election)
		}
		if !slices.Contains(names, election) {
			c.fail("Prune deleted %q but returned only %q", election, names)
		}
	}
}

// kept fails the rule if a record is gone after Prune.
func (c *trial) kept(election string, unused time.Duration) {
	c.Helper()
	if names := c.prune(unused); slices.Contains(names, election) {
		c.fail("Prune(%v) returned the name of the record", unused)
	}
	if !c.load(election).Exists() {
		c.fail("Prune(%v) deleted the record", unused)
	}
}

func pruneHeld(c *trial) {
	election, record := c.name(), c.held()
	record.ElectedAt = time.Date(1999, time.January, 1, 0, 0, 0, 0, time.UTC)
	record.RenewedAt = record.ElectedAt
	c.create(election, record)
	c.kept(election, 0)
}

func prunePaused(c *trial) {
	election, current := c.vacated(c.floor + 1)
	c.swap(election, current.Version, tenure.Record{Token: c.floor + 1, Pause: &tenure.Pause{By: "operator"}})
	c.kept(election, 0)
}

func pruneRecent(c *trial) {
	election, _ := c.vacated(c.floor + 1)
	c.kept(election, time.Hour)
}

func pruneFloor(c *trial) {
	token := c.floor + 7
	election, _ := c.vacated(token)
	c.prune(0)
	c.atLeast("the pruned election", election, token)
	c.atLeast("an election that never was", c.name(), token)
}

func (c *trial) atLeast(what, election string, floor uint64) {
	c.Helper()
	if got := c.load(election).Record.Token; got < floor {
		c.fail("Load of %s returned Token %d after %d was pruned", what, got, floor)
	}
}

func pruneFloorStays(c *trial) {
	low, high := c.floor+1, c.floor+9
	later, record := c.name(), c.held()
	record.Token = low
	current := c.create(later, record) // kept by the first Prune, because it is held
	c.vacated(high)
	c.prune(0)
	c.swap(later, current.Version, vacant(record))
	c.prune(0)
	c.atLeast("an election that never was", c.name(), high)
}

func pruneFloorHolds(c *trial) {
	c.vacated(c.floor + 5)
	c.prune(0)
	floor := max(c.floor+5, c.currentFloor())
	election, record := c.name(), c.held()
	for _, token := range []uint64{c.floor + 1, floor} {
		record.Token = token
		if _, err := c.try(c.store, election, "", record); !errors.Is(err, tenure.ErrConflict) {
			c.fail("creating a record with Token %d under the floor %d returned the error %v, want ErrConflict",
				token, floor, err)
		}
	}
	if c.load(election).Exists() {
		c.fail("a record under the floor was written")
	}
	record.Token = floor + 1
	c.create(election, record)
}

func pruneWatch(c *trial) {
	election, _ := c.vacated(c.floor + 1)
	box := c.watch(election)
	c.settle()
	c.prune(0)
	box.await(c, "that there is no record any more", missing)
}
