package tenuretest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// inbox keeps what a watch delivers. Interruptions are kept for messages only: every watch may have them.
type inbox struct {
	mu            sync.Mutex
	snapshots     []tenure.Snapshot
	interruptions []error
	arrived       chan struct{} // holds a value if something has arrived since it was last emptied
	stop          func()
}

func newInbox() *inbox { return &inbox{arrived: make(chan struct{}, 1)} }

// watch begins to watch an election until the end of the check.
func (c *trial) watch(election string) *inbox {
	c.Helper()
	box := newInbox()
	box.stop = c.watchWith(election, box.deliver)
	return box
}

func (c *trial) watchWith(election string, deliver func(tenure.Snapshot, error)) (stop func()) {
	c.Helper()
	stop, err := c.store.(tenure.Watcher).Watch(c.Context(), election, deliver)
	if err != nil {
		c.fail("Watch(%q) returned the error %v", election, err)
	}
	once := sync.OnceFunc(stop) // so that only the rule about it stops twice
	c.Cleanup(once)
	return once
}

func (b *inbox) deliver(snapshot tenure.Snapshot, err error) {
	b.mu.Lock()
	if err != nil {
		b.interruptions = append(b.interruptions, err)
	} else {
		b.snapshots = append(b.snapshots, snapshot)
	}
	b.mu.Unlock()
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// all returns every snapshot so far.
func (b *inbox) all() []tenure.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.snapshots)
}

// await waits for a delivery, past ones included, and fails the rule if it never comes.
func (b *inbox) await(c *trial, what string, wanted func(tenure.Snapshot) bool) tenure.Snapshot {
	c.Helper()
	ctx, cancel := c.limit()
	defer cancel()
	for {
		snapshots := b.all()
		if i := slices.IndexFunc(snapshots, wanted); i >= 0 {
			return snapshots[i]
		}
		select {
		case <-b.arrived:
		case <-ctx.Done():
			c.fail("%s was not delivered within %v; %s", what, patience, b)
		}
	}
}

// listen waits for a delivery, but for no longer than d.
func (b *inbox) listen(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-b.arrived:
	case <-timer.C:
	}
}

// String says for messages what has arrived.
func (b *inbox) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var versions []tenure.Version
	for _, snapshot := range b.snapshots {
		versions = append(versions, snapshot.Version)
	}
	return fmt.Sprintf("delivered were the Versions %q and the errors %v", versions, b.interruptions)
}

func has(version tenure.Version) func(tenure.Snapshot) bool {
	return func(snapshot tenure.Snapshot) bool { return snapshot.Version == version }
}

func anything(tenure.Snapshot) bool { return true }

func missing(snapshot tenure.Snapshot) bool { return !snapshot.Exists() }

// settle gives deliveries that are on their way the time to arrive.
func (c *trial) settle() { wait(c.Context(), calm) }
