package feed

import (
	"sync"

	"github.com/tenure-go/tenure"
)

// watch is one caller of Watch.
type watch struct {
	election string
	key      string

	// deliver is called, and the rest changed, under mu. So stop waits for a delivery that is under way.
	mu      sync.Mutex
	deliver func(tenure.Snapshot, error)
	stopped bool
	said    said
}

// said is what a watch was told last, so that it is not told twice.
type said struct {
	anything bool
	version  tenure.Version
	floor    uint64
	failed   bool
	closed   bool
}

// stop returns when nothing is delivered any more.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

// tell delivers what was not delivered last.
func (w *watch) tell(snapshot tenure.Snapshot, err error, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := said{anything: true, failed: err != nil, closed: closed}
	if err == nil {
		now.version, now.floor = snapshot.Version, snapshot.Record.Token
	}
	if !w.stopped && now != w.said {
		w.said = now
		w.deliver(snapshot, err)
	}
}
