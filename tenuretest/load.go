package tenuretest

import (
	"fmt"
	"sync"

	"github.com/tenure-go/tenure"
)

func loadMissing(c *trial) {
	got := c.load(c.name())
	if got.Exists() || got.Abandoned {
		c.fail("Load returned Version %q and Abandoned %t", got.Version, got.Abandoned)
	}
	c.same("the record that does not exist", got.Record, tenure.Record{Token: got.Record.Token})
}

func loadCurrent(c *trial) {
	election, record := c.name(), c.held()
	var current tenure.Snapshot
	for range 3 {
		record.Renewals++
		current = c.swap(election, current.Version, record)
		for range 2 { // reading must not change what is read
			c.isCurrent(election, current.Version, record)
		}
	}
}

func (c *trial) isCurrent(election string, version tenure.Version, record tenure.Record) {
	c.Helper()
	got := c.load(election)
	if got.Version != version {
		c.fail("Load returned Version %q, CompareAndSwap had returned %q", got.Version, version)
	}
	c.same("the loaded record", got.Record, record)
}

func loadWhole(c *trial) {
	const rounds, readers = 32, 4
	election := c.name()
	current := c.create(election, c.stamped(0))
	for round := range rounds {
		var reading sync.WaitGroup
		var loaded [readers]tenure.Snapshot
		var errs [readers]error
		for i := range readers {
			reading.Go(func() { loaded[i], errs[i] = c.look(c.store, election) })
		}
		current = c.swap(election, current.Version, c.stamped(round+1))
		reading.Wait()
		for i := range readers {
			c.isWhole(loaded[i].Record, errs[i])
		}
	}
}

// stamped returns a record all of whose fields follow from one number.
func (c *trial) stamped(number int) tenure.Record {
	record := c.held()
	record.Renewals = uint64(number)
	record.Leader = fmt.Sprintf("leader-%d", number)
	record.Session = fmt.Sprintf("session-%d", number)
	record.Address = fmt.Sprintf("address-%d", number)
	return record
}

func (c *trial) isWhole(got tenure.Record, err error) {
	c.Helper()
	if err != nil {
		c.fail("Load returned the error %v", err)
	}
	if found := differences(got, c.stamped(int(got.Renewals))); len(found) > 0 {
		c.fail("Load returned the number of one record with fields of another: %v", found)
	}
}

func loadAbandoned(c *trial) {
	election, record := c.name(), c.held()
	current := c.create(election, record)
	record.Renewals++
	c.notAbandoned("CompareAndSwap", current)
	c.notAbandoned("CompareAndSwap", c.swap(election, current.Version, record))
	c.notAbandoned("Load", c.load(election))
	if c.second != nil {
		c.notAbandoned("Load by another client", c.loadFrom(c.second(), election))
	}
}

func (c *trial) notAbandoned(what string, got tenure.Snapshot) {
	c.Helper()
	if got.Abandoned {
		c.fail("%s returned the record as Abandoned", what)
	}
}
