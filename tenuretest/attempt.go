package tenuretest

import (
	"errors"
	"sync"

	"github.com/tenure-go/tenure"
)

// attempt is one of several swaps of one election that are made at the same time.
type attempt struct {
	store  tenure.Store
	record tenure.Record
	got    tenure.Snapshot
	err    error
}

// crowd returns attempts to write different records, dealt out to the stores.
func (c *trial) crowd(size int, stores ...tenure.Store) []attempt {
	attempts := make([]attempt, size)
	for i := range attempts {
		attempts[i] = attempt{store: stores[i%len(stores)], record: c.held()}
	}
	return attempts
}

// oneWinner makes all attempts at once and fails the rule unless one succeeds and all others are conflicts.
func (c *trial) oneWinner(election string, old tenure.Version, attempts []attempt) attempt {
	c.Helper()
	var running sync.WaitGroup
	for i := range attempts {
		a := &attempts[i]
		running.Go(func() { a.got, a.err = c.try(a.store, election, old, a.record) })
	}
	running.Wait()
	var won []attempt
	for _, a := range attempts {
		if a.err == nil {
			won = append(won, a)
		} else if !errors.Is(a.err, tenure.ErrConflict) {
			c.fail("one of %d concurrent CompareAndSwaps returned the error %v", len(attempts), a.err)
		}
	}
	if len(won) != 1 {
		c.fail("%d of %d concurrent CompareAndSwaps from Version %q succeeded", len(won), len(attempts), old)
	}
	return won[0]
}
