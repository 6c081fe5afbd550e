package tenuretest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
)

func watchFirst(c *trial) {
	election := c.name()
	created := c.create(election, c.held())
	record := c.held()
	current := c.swap(election, created.Version, record)
	got := c.watch(election).await(c, "the current state", anything)
	if got.Version != current.Version {
		c.fail("the first delivery has Version %q, want %q", got.Version, current.Version)
	}
	c.same("the first delivery", got.Record, record)
}

func watchMissing(c *trial) {
	got := c.watch(c.name()).await(c, "the missing record", anything)
	if got.Exists() {
		c.fail("the first delivery has Version %q", got.Version)
	}
}

func watchCreate(c *trial) {
	election := c.name()
	box := c.watch(election)
	c.settle()
	created := c.create(election, c.held())
	box.await(c, "the creation", has(created.Version))
}

func watchLast(c *trial) {
	election, record := c.name(), c.held()
	current := c.create(election, record)
	box := c.watch(election)
	box.await(c, "the current state", anything)
	for range 64 {
		record.Renewals++
		current = c.swap(election, current.Version, record)
	}
	box.await(c, "the last of 64 changes", has(current.Version))
	c.settle()
	all := box.all()
	if last := all[len(all)-1]; last.Version != current.Version {
		c.fail("after the last state, Version %q, an older one was delivered; %s", current.Version, box)
	}
}

func watchSerial(c *trial) {
	election, record := c.name(), c.held()
	current := c.create(election, record)
	box := newInbox()
	var inside atomic.Int32
	var overlapped atomic.Bool
	c.watchWith(election, func(snapshot tenure.Snapshot, err error) {
		if inside.Add(1) > 1 {
			overlapped.Store(true)
		}
		time.Sleep(time.Millisecond) // long enough for another call to get in, if one can
		box.deliver(snapshot, err)
		inside.Add(-1)
	})
	for range 16 {
		record.Renewals++
		current = c.swap(election, current.Version, record)
	}
	box.await(c, "the last change", has(current.Version))
	if overlapped.Load() {
		c.fail("deliver was called while an earlier call for the same watch had not returned")
	}
}

func watchTwo(c *trial) {
	election := c.name()
	current := c.create(election, c.held())
	one, other := c.watch(election), c.watch(election)
	c.settle()
	current = c.swap(election, current.Version, c.held())
	one.await(c, "a change, to the first of two watches,", has(current.Version))
	other.await(c, "a change, to the second of two watches,", has(current.Version))
	one.stop()
	current = c.swap(election, current.Version, c.held())
	other.await(c, "a change after the other watch was stopped", has(current.Version))
}

func watchApart(c *trial) {
	parent, record := c.name(), c.held()
	current := c.create(parent, record)
	box := c.watch(parent)
	c.settle()
	for _, child := range []string{parent + "-2", parent + "/child", parent + ".child", parent + ":child"} {
		created := c.create(child, c.held())
		c.swap(child, created.Version, c.held())
	}
	current = c.swap(parent, current.Version, record)
	box.await(c, "a change of the watched election", has(current.Version))
	c.settle()
	for _, got := range box.all() {
		if got.Exists() && got.Record.Session != record.Session {
			c.fail("the record of another election was delivered, with Version %q", got.Version)
		}
	}
}

func watchAlias(c *trial) {
	election := c.name()
	created := c.create(election, c.full())
	got := c.watch(election).await(c, "the current state", has(created.Version))
	before := c.load(election).Record.Clone()
	scribble(got.Record)
	c.same("the record, which a watcher has changed since,", c.load(election).Record, before)
}

func watchSlow(c *trial) {
	election, record := c.name(), c.held()
	current := c.create(election, record)
	box := newInbox()
	blocked := make(chan struct{})
	release := sync.OnceFunc(func() { close(blocked) })
	defer release()
	stop := c.watchWith(election, func(snapshot tenure.Snapshot, err error) {
		<-blocked
		box.deliver(snapshot, err)
	})
	defer stop()
	defer release() // before stop, which waits for deliver
	c.settle()
	var err error
	c.returns("CompareAndSwap during a blocked delivery", func() {
		for i := 0; i < 3 && err == nil; i++ {
			record.Renewals++
			current, err = c.try(c.store, election, current.Version, record)
		}
	})
	if err != nil {
		c.fail("during a blocked delivery CompareAndSwap returned the error %v", err)
	}
	release()
	box.await(c, "the last change during a blocked delivery", has(current.Version))
}

func watchContext(c *trial) {
	election := c.name()
	current := c.create(election, c.held())
	box := newInbox()
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	stop, err := c.store.(tenure.Watcher).Watch(ctx, election, box.deliver)
	if err != nil {
		c.fail("Watch returned the error %v", err)
	}
	defer stop()
	cancel()
	c.settle()
	current = c.swap(election, current.Version, c.held())
	box.await(c, "a change after the end of the context", has(current.Version))
}

func watchStop(c *trial) {
	election := c.name()
	current := c.create(election, c.held())
	stopped := c.watch(election)
	stopped.await(c, "the current state", anything)
	witness := c.watch(election)
	stopped.stop()
	heard := len(stopped.all())
	for range 3 {
		current = c.swap(election, current.Version, c.held())
		witness.await(c, "a change, to a watch that was not stopped,", has(current.Version))
	}
	c.settle()
	if len(stopped.all()) > heard {
		c.fail("changes were delivered to the stopped watch; %s", stopped)
	}
	c.stopsInTime(election, current.Version)
}

// stopsInTime stops watches at various times after a change, while it is on its way to some of them.
func (c *trial) stopsInTime(election string, current tenure.Version) {
	c.Helper()
	var late atomic.Bool
	for round := range 16 {
		var stopped atomic.Bool
		box := newInbox()
		stop := c.watchWith(election, func(snapshot tenure.Snapshot, err error) {
			if stopped.Load() {
				late.Store(true)
			}
			box.deliver(snapshot, err)
		})
		box.await(c, "the current state", anything)
		current = c.swap(election, current, c.held()).Version
		wait(c.Context(), time.Duration(round)*200*time.Microsecond)
		stop()
		stopped.Store(true)
	}
	c.settle()
	if late.Load() {
		c.fail("deliver was called after stop had returned")
	}
}

func watchStopTwice(c *trial) {
	watcher := c.store.(tenure.Watcher)
	stop, err := watcher.Watch(c.Context(), c.name(), func(tenure.Snapshot, error) {})
	if err != nil {
		c.fail("Watch returned the error %v", err)
	}
	for _, calls := range []int{1, 1, 4} {
		if err := c.stopAtOnce(stop, calls); err != nil {
			c.fail("stop, called again, %v", err)
		}
	}
}

// stopAtOnce calls stop several times concurrently and returns how the first of the calls panicked, if one did.
func (c *trial) stopAtOnce(stop func(), calls int) (err error) {
	c.Helper()
	panics := make(chan any, calls)
	for range calls {
		go func() {
			defer func() { panics <- recover() }()
			stop()
		}()
	}
	c.returns("stop", func() {
		for range calls {
			if p := <-panics; p != nil && err == nil {
				err = fmt.Errorf("panicked: %v", p)
			}
		}
	})
	return err
}

func watchGoroutines(c *trial) {
	const watches = 100
	before := runtime.NumGoroutine()
	for range watches {
		c.watch(c.name())
	}
	c.settle()
	// What else runs in this process comes and goes, but half of one goroutine for each watch would stay.
	c.eventually(fmt.Sprintf("%d watches took less than %d goroutines", watches, watches/2), func() bool {
		return runtime.NumGoroutine()-before < watches/2
	})
}
