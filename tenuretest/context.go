package tenuretest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure"
)

// over returns contexts that have ended, one by being cancelled and one by its deadline.
func (c *trial) over() map[string]context.Context {
	cancelled, cancel := context.WithCancel(c.Context())
	cancel()
	expired, cancel := context.WithDeadline(c.Context(), time.Now().Add(-time.Second))
	cancel()
	return map[string]context.Context{"a cancelled": cancelled, "an expired": expired}
}

func contextLoad(c *trial) {
	election := c.name()
	c.create(election, c.held())
	for kind, ctx := range c.over() {
		var err error
		c.returns("Load with "+kind+" context", func() { _, err = c.store.Load(ctx, election) })
		if err == nil {
			c.fail("Load with %s context returned no error", kind)
		}
	}
}

func contextSwap(c *trial) {
	for kind, ctx := range c.over() {
		election := c.name()
		c.refuses(ctx, kind, election, "", c.held())
		current := c.create(election, c.held())
		c.refuses(ctx, kind, election, current.Version, c.held())
		// Accepted from the same version, this shows that nothing was written, and keeps it from being written later.
		c.swap(election, current.Version, c.held())
	}
}

func (c *trial) refuses(
	ctx context.Context, kind, election string, current tenure.Version, record tenure.Record,
) {
	c.Helper()
	before := c.load(election)
	var err error
	c.returns("CompareAndSwap with "+kind+" context", func() {
		_, err = c.store.CompareAndSwap(ctx, election, current, record)
	})
	switch {
	case err == nil:
		c.fail("CompareAndSwap with %s context returned no error", kind)
	case errors.Is(err, tenure.ErrConflict):
		c.fail("CompareAndSwap with %s context, from the current Version, returned ErrConflict: %v", kind, err)
	}
	c.unchanged(election, before)
}

func contextMidway(c *trial) {
	election := c.name()
	c.create(election, c.numbered(0))
	last := 0
	for round := 1; round <= 12; round++ {
		after := 10 * time.Microsecond << round // up to 40 ms: somewhere on the way to most stores and back
		c.interrupted(election, after, c.numbered(2*round))
		last = c.overwritten(election, last, 2*round)
	}
}

func (c *trial) numbered(number int) tenure.Record {
	record := c.held()
	record.Renewals = uint64(number)
	return record
}

// interrupted loads and swaps under a context that ends at some point, and fails the rule if that does not end them.
func (c *trial) interrupted(election string, after time.Duration, record tenure.Record) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), after)
	defer cancel()
	what := fmt.Sprintf("Load or CompareAndSwap with a context that ended after %v", after)
	c.returns(what, func() {
		if current, err := c.store.Load(ctx, election); err == nil {
			_, _ = c.store.CompareAndSwap(ctx, election, current.Version, record)
		}
	})
}

// overwritten replaces the record whether or not the interrupted swap has written it, or does so meanwhile. It returns
// the number of the new record.
func (c *trial) overwritten(election string, before, interrupted int) int {
	c.Helper()
	next := interrupted + 1
	c.eventually("the record could be replaced after an interrupted call", func() bool {
		current := c.load(election)
		if number := int(current.Record.Renewals); number != before && number != interrupted {
			c.fail("an interrupted call left record number %d, neither %d nor %d", number, before, interrupted)
		}
		_, err := c.try(c.store, election, current.Version, c.numbered(next))
		if err != nil && !errors.Is(err, tenure.ErrConflict) {
			c.fail("after an interrupted call CompareAndSwap returned the error %v", err)
		}
		return err == nil
	})
	return next
}
