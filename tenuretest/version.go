package tenuretest

import (
	"slices"

	"github.com/tenure-go/tenure"
)

// history is the versions that one election has had.
type history []tenure.Version

// add fails the rule if the version of the next state has been there before.
func (h *history) add(c *trial, next tenure.Snapshot) {
	c.Helper()
	if slices.Contains(*h, next.Version) {
		c.fail("Version %q came again after %q", next.Version, *h)
	}
	*h = append(*h, next.Version)
}

func versionMoves(c *trial) {
	election, record := c.name(), c.held()
	var current tenure.Snapshot
	var seen history
	for range 4 {
		current = c.swap(election, current.Version, record)
		seen.add(c, current)
	}
}

func versionABA(c *trial) {
	election, a := c.name(), c.held()
	b := a
	b.Renewals++
	var current tenure.Snapshot
	var seen history
	for _, record := range []tenure.Record{a, b, a, b, a} {
		current = c.swap(election, current.Version, record)
		seen.add(c, current)
	}
}

func versionDeleted(c *trial) {
	election, a := c.name(), c.held()
	b := a
	b.Renewals++
	var seen history
	for range 3 {
		created := c.create(election, a)
		seen.add(c, created)
		seen.add(c, c.swap(election, created.Version, b))
		c.remove(election)
	}
}

func versionPruned(c *trial) {
	election, record := c.name(), c.held()
	var seen history
	for range 3 {
		created := c.create(election, record)
		seen.add(c, created)
		seen.add(c, c.swap(election, created.Version, vacant(record)))
		c.prune(0)
		record.Token = max(record.Token, c.currentFloor()) + 1
	}
}
