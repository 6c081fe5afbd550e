package tenure

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// EventKind says what happened to a candidate.
type EventKind uint8

const (
	// EventElected: a term began.
	EventElected EventKind = iota
	// EventRenewed: the term's lease was extended.
	EventRenewed
	// EventEnded: the term ended; Err is its cause and Reason says more. Leader work now has to return.
	EventEnded
	// EventReleased: the seat was given back, free for others at once.
	EventReleased
	// EventOverran: leader work has not returned in time; the seat is not given back.
	EventOverran
	// EventLeaderChanged: the record shows another term than before; Leader and Token tell which, an empty Leader
	// that the seat is vacant.
	EventLeaderChanged
	// EventStoreFailed: a call to the store failed; Err says how. A leader has lost nothing yet.
	EventStoreFailed
	// EventStopped: the candidate no longer stands.
	EventStopped
)

var eventNames = [...]string{
	"elected", "renewed", "ended", "released", "overran", "leader changed", "store failed", "stopped",
}

// String returns the kind as logs print it.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return fmt.Sprintf("event %d", uint8(k))
}

// Event is one thing that happened to a candidate.
type Event struct {
	// Kind says what happened.
	Kind EventKind
	// At is when, by the wall clock of this process.
	At time.Time
	// Election and Candidate say to whom.
	Election, Candidate string
	// Token is that of the term concerned.
	Token uint64
	// Leader is who leads after an EventLeaderChanged.
	Leader string
	// Reason says why, for people.
	Reason string
	// Err is the cause of an EventEnded, the failure of an EventStoreFailed.
	Err error
}

// maxPendingEvents bounds what is kept for observers that do not keep up. Beyond it the oldest are dropped.
const maxPendingEvents = 256

// dispatcher calls observers in order, on a goroutine that lives only while there is something to tell, so that no
// observer is ever waited for.
type dispatcher struct {
	observers []func(Event)
	log       *slog.Logger

	mu      sync.Mutex
	pending []Event
	dropped int
	idle    chan struct{} // closed when the goroutine has ended; nil if there is none
}

func (d *dispatcher) publish(e Event) {
	if len(d.observers) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == maxPendingEvents {
		d.pending = append(d.pending[:0], d.pending[1:]...)
		d.dropped++
	}
	d.pending = append(d.pending, e)
	if d.idle == nil {
		d.idle = make(chan struct{})
		go d.run(d.idle)
	}
}

func (d *dispatcher) run(idle chan struct{}) {
	defer close(idle)
	for {
		e, ok := d.next()
		if !ok {
			return
		}
		for _, observer := range d.observers {
			d.tell(observer, e)
		}
	}
}

func (d *dispatcher) next() (Event, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped > 0 {
		d.log.Warn("an observer is too slow; events were dropped", "dropped", d.dropped)
		d.dropped = 0
	}
	if len(d.pending) == 0 {
		d.pending, d.idle = nil, nil
		return Event{}, false
	}
	e := d.pending[0]
	d.pending = d.pending[1:]
	return e, true
}

func (d *dispatcher) tell(observer func(Event), e Event) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("an observer panicked", "event", e.Kind, "panic", p)
		}
	}()
	observer(e)
}

// drained returns a channel that is closed once every event published so far was told.
func (d *dispatcher) drained() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle == nil {
		return closed
	}
	return d.idle
}

// closed is ready at once, for whoever has nothing to wait for.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
