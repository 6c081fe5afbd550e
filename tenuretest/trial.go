package tenuretest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
)

const (
	// patience is how long the kit waits for what ought to happen. It only has to be longer than the worst hiccup of
	// a test machine: a correct store is never waited for that long.
	patience = 30 * time.Second
	// calm is how long the kit listens for what ought not to happen. There is no event to wait for instead. Where it
	// can, a rule waits for a delivery to somebody else first, so that calm only covers the difference.
	calm = 50 * time.Millisecond
	// breath is the time between two looks at something that is waited for.
	breath = 10 * time.Millisecond
)

// reporter is what a check needs of a [testing.T]. The kit's own tests record the failures instead.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
}

// trial is one rule on trial with one store.
type trial struct {
	reporter
	rule   rule
	store  tenure.Store
	second func() tenure.Store   // nil if there is none
	remove func(election string) // nil if there is none
	floor  uint64                // the store's token floor at the start
}

// lack returns why the rule cannot be checked on this store, empty if it can.
func (c *trial) lack() string {
	for _, need := range c.rule.needs {
		if !need.met(c) {
			return need.lack
		}
	}
	return ""
}

func (c *trial) check() {
	c.Helper()
	c.floor = c.currentFloor()
	c.rule.check(c)
}

// currentFloor loads the token floor. An error is left to the rules about Load: here the floor is then zero.
func (c *trial) currentFloor() uint64 {
	missing, _ := c.look(c.store, c.name())
	return missing.Record.Token
}

// fail ends the check: the rule is broken.
func (c *trial) fail(format string, args ...any) {
	c.Helper()
	c.Fatalf("%s: %s.\n    %s", c.rule.id, c.rule.text, fmt.Sprintf(format, args...))
}

// name returns the name of an election that nobody has used before, made of lower-case letters, digits and hyphens.
func (c *trial) name() string { return "tenuretest-" + nonce() }

func nonce() string { return strings.ToLower(rand.Text()) }

// limit returns a context for a call that ought to return in time.
func (c *trial) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Context(), patience)
}

// load returns the current state, and fails the rule if the store does not.
func (c *trial) load(election string) tenure.Snapshot {
	c.Helper()
	return c.loadFrom(c.store, election)
}

func (c *trial) loadFrom(store tenure.Store, election string) tenure.Snapshot {
	c.Helper()
	snapshot, err := c.look(store, election)
	if err != nil {
		c.fail("Load(%q) returned the error %v", election, err)
	}
	return snapshot
}

// look loads once, in any goroutine, apart from refusals.
func (c *trial) look(store tenure.Store, election string) (snapshot tenure.Snapshot, err error) {
	err = c.accepted(func(ctx context.Context) (err error) {
		snapshot, err = store.Load(ctx, election)
		return err
	})
	return snapshot, err
}

// try swaps once, in any goroutine, apart from refusals. The store gets a record that it may keep.
func (c *trial) try(store tenure.Store, election string, old tenure.Version, record tenure.Record) (
	tenure.Snapshot, error,
) {
	return c.pass(store, election, old, record.Clone())
}

// pass is try with a record that the caller may change afterwards.
func (c *trial) pass(store tenure.Store, election string, old tenure.Version, record tenure.Record) (
	snapshot tenure.Snapshot, err error,
) {
	err = c.accepted(func(ctx context.Context) (err error) {
		snapshot, err = store.CompareAndSwap(ctx, election, old, record)
		return err
	})
	return snapshot, err
}

// accepted repeats a call while the store refuses it and may be asked again: every store may be busy, and other rules
// are checked on it at the same time.
func (c *trial) accepted(call func(context.Context) error) error {
	ctx, cancel := c.limit()
	defer cancel()
	for {
		err := call(ctx)
		if !errors.Is(err, tenure.ErrNotApplied) || !wait(ctx, max(tenure.RetryAfter(err), breath)) {
			return err
		}
	}
}

// swap writes record, and fails the rule if the store refuses it.
func (c *trial) swap(election string, old tenure.Version, record tenure.Record) tenure.Snapshot {
	c.Helper()
	return c.swapIn(c.store, election, old, record)
}

func (c *trial) swapIn(
	store tenure.Store, election string, old tenure.Version, record tenure.Record,
) tenure.Snapshot {
	c.Helper()
	snapshot, err := c.try(store, election, old, record)
	if err != nil {
		c.fail("CompareAndSwap(%q) from Version %q, the current one, returned the error %v", election, old, err)
	}
	return snapshot
}

// create writes a new record, and fails the rule if the store refuses it.
func (c *trial) create(election string, record tenure.Record) tenure.Snapshot {
	c.Helper()
	return c.swap(election, "", record)
}

// conflict fails the rule unless a swap from old is refused as it should be, and changes nothing.
func (c *trial) conflict(election string, old tenure.Version, record tenure.Record) {
	c.Helper()
	before := c.load(election)
	record.Session = nonce()
	if _, err := c.try(c.store, election, old, record); !errors.Is(err, tenure.ErrConflict) {
		c.fail("CompareAndSwap(%q) from Version %q, not the current one, returned the error %v, want ErrConflict",
			election, old, err)
	}
	c.unchanged(election, before)
}

// unchanged fails the rule unless the store still holds what it held before, whatever version it calls it by.
func (c *trial) unchanged(election string, before tenure.Snapshot) {
	c.Helper()
	now := c.load(election)
	if now.Exists() != before.Exists() {
		c.fail("the record of %q exists: %t, want %t", election, now.Exists(), before.Exists())
	}
	c.same("the record of "+quote(election), now.Record, before.Record)
}

// same fails the rule unless the record is the one that is wanted.
func (c *trial) same(what string, got, want tenure.Record) {
	c.Helper()
	if found := differences(got, want); len(found) > 0 {
		c.fail("%s is not as it was written:\n        %s", what, strings.Join(found, "\n        "))
	}
}

// eventually waits until something holds, and fails the rule if it does not come to.
func (c *trial) eventually(what string, holds func() bool) {
	c.Helper()
	ctx, cancel := c.limit()
	defer cancel()
	for !holds() {
		if !wait(ctx, breath) {
			c.fail("after %v it was not so that %s", patience, what)
		}
	}
}

// returns runs call and fails the rule if it does not return in time. Then the call goes on by itself.
func (c *trial) returns(what string, call func()) {
	c.Helper()
	if !ended(start(call)) {
		c.fail("%s has not returned after %v", what, patience)
	}
}

// start runs call in a goroutine and returns a channel that is closed when it has returned.
func start(call func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	return done
}

// ended waits for done and reports whether it came in time.
func ended(done <-chan struct{}) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// wait sleeps for d and reports whether ctx still stands.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// quote shortens long names for messages.
func quote(name string) string {
	if len(name) > 80 {
		name = name[:40] + "..." + name[len(name)-20:]
	}
	return fmt.Sprintf("%q", name)
}
