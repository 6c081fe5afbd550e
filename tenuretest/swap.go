package tenuretest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tenure-go/tenure"
)

func casCreate(c *trial) {
	paused := tenure.Record{Token: c.floor, Pause: &tenure.Pause{By: "operator"}}
	for _, record := range []tenure.Record{c.held(), paused} {
		election := c.name()
		if created := c.create(election, record); !created.Exists() {
			c.fail("CompareAndSwap returned a zero Version and no error")
		}
		got := c.load(election)
		if !got.Exists() || got.Record.Leader != record.Leader {
			c.fail("Load then returned Version %q with the leader %q, want a record with the leader %q",
				got.Version, got.Record.Leader, record.Leader)
		}
	}
}

func casTaken(c *trial) {
	held := c.held()
	forgotten := vacant(held)
	forgotten.Forgotten = true
	for _, taken := range []tenure.Record{held, vacant(held), forgotten} {
		election := c.name()
		current := c.create(election, held)
		c.swap(election, current.Version, taken)
		next := held
		next.Token++
		c.conflict(election, "", next)
	}
}

func casReplace(c *trial) {
	election := c.name()
	current := c.create(election, c.full())
	bare := c.held()
	c.swap(election, current.Version, bare)
	c.same("the record that replaced a fuller one", c.load(election).Record, bare)
}

func casReturn(c *trial) {
	election, record := c.name(), c.held()
	var current tenure.Snapshot
	for range 5 {
		record.Renewals++
		current = c.swap(election, current.Version, record)
		c.same("the returned record", current.Record, record)
	}
}

func casOld(c *trial) {
	election, record := c.name(), c.held()
	var versions []tenure.Version
	var current tenure.Snapshot
	for range 4 {
		record.Renewals++
		current = c.swap(election, current.Version, record)
		versions = append(versions, current.Version)
	}
	for _, old := range versions[:len(versions)-1] {
		c.conflict(election, old, record)
	}
}

func casWrong(c *trial) {
	mine, other, record := c.name(), c.name(), c.held()
	current := c.create(mine, record)
	var wrong tenure.Snapshot
	for range 4 {
		wrong = c.swap(other, wrong.Version, record)
		if wrong.Version != current.Version { // both may count from one, each for itself
			c.conflict(mine, wrong.Version, record)
		}
	}
}

func casMissing(c *trial) {
	other := c.create(c.name(), c.held())
	c.conflict(c.name(), other.Version, c.held())
}

func casOneCreator(c *trial) {
	const rounds, creators = 8, 8
	for range rounds {
		election := c.name()
		winner := c.oneWinner(election, "", c.crowd(creators, c.store))
		if got := c.load(election); got.Record.Session != winner.record.Session {
			c.fail("the record is not that of the one whose CompareAndSwap succeeded")
		}
	}
}

func casOneWinner(c *trial) {
	const counters, each = 8, 8 // how many count at once, and how far each of them
	election := c.name()
	record := c.held()
	current := c.create(election, record)
	record.Renewals = 0
	c.swap(election, current.Version, record)

	var counting sync.WaitGroup
	var won [counters][]tenure.Version
	var errs [counters]error
	for i := range counters {
		counting.Go(func() { won[i], errs[i] = c.count(election, each) })
	}
	counting.Wait()

	winners := make(map[tenure.Version]int)
	for i := range counters {
		if errs[i] != nil {
			c.fail("%v", errs[i])
		}
		for _, version := range won[i] {
			winners[version]++
		}
	}
	for version, count := range winners {
		if count > 1 {
			c.fail("%d concurrent CompareAndSwaps from Version %q succeeded", count, version)
		}
	}
	if got := c.load(election).Record.Renewals; got != counters*each {
		c.fail("%d accepted writes that each added one made %d", counters*each, got)
	}
}

// count adds one to the record's renewals, times over, and returns the versions that it did so from. Every race that
// it loses somebody else has won, so it cannot lose many more than there are to win, except to stale loads. Each call
// has its time, the whole has not: how long it takes is up to how fast the store writes.
func (c *trial) count(election string, times int) (from []tenure.Version, err error) {
	const races = 5000
	for range races {
		if len(from) == times {
			return from, nil
		}
		current, err := c.look(c.store, election)
		if err != nil {
			return nil, fmt.Errorf("Load returned the error %w", err)
		}
		next := current.Record
		next.Renewals++
		switch _, err := c.try(c.store, election, current.Version, next); {
		case err == nil:
			from = append(from, current.Version)
		case !errors.Is(err, tenure.ErrConflict):
			return nil, fmt.Errorf("one of several concurrent CompareAndSwaps returned the error %w", err)
		}
	}
	return nil, fmt.Errorf("%d of %d concurrent CompareAndSwaps were conflicts", races-len(from), races)
}

func casApart(c *trial) {
	parent := c.name()
	others := []string{parent + "-2", parent + "/child", parent + ".child", parent + ":child"}
	before := make(map[string]tenure.Version)
	record := c.held()
	for _, other := range others {
		before[other] = c.create(other, record).Version
	}
	var current tenure.Snapshot
	for range 3 {
		current = c.swap(parent, current.Version, c.held())
	}
	for _, other := range others {
		c.same("the record of "+quote(other), c.load(other).Record, record)
		c.swap(other, before[other], record)
	}
}
