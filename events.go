package tenure

import (
	"fmt"
	"log/slog"
	"time"
)

// EventKind says what happened to a candidate.
type EventKind uint8

const (
	// EventElected: a term began. It may be told late: by then the term may be over, as an EventEnded then says next.
	EventElected EventKind = iota
	// EventRenewed: the term's lease was extended.
	EventRenewed
	// EventEnded: the term ended; Err is its cause and Reason says more. Leader work now has to return, and what an
	// observer began upon EventElected has to have stopped before it returns from this: until then the seat is not given
	// up, unless the drain passes first.
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
	// EventCopied: the record shows that this process runs more than once, as after a snapshot of its machine that was
	// restored beside it. The copies lead on for one lease at most until one of them finds out; that one has another
	// session from here on, and stands as a candidate of its own. Token is that of the term that it led, if it led one.
	EventCopied
)

var eventNames = [...]string{
	"elected", "renewed", "ended", "released", "overran", "leader changed", "store failed", "stopped", "copied",
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

// notice is an event on its way to the observers.
type notice struct {
	event Event
	told  func() // called once every observer has returned from it; nil if nobody wants to know
}

// dispatcher calls observers, so that none is ever waited for. It is nil where there are none.
type dispatcher struct {
	queue[notice]

	observers []func(Event)
	log       *journal
}

func newDispatcher(observers []func(Event), log *journal) *dispatcher {
	if len(observers) == 0 {
		return nil
	}
	d := &dispatcher{observers: observers, log: log}
	d.tell = func(n notice) { d.tellFrom(0, n) }
	d.lost = func(n int) {
		log.write(slog.LevelWarn, "an observer is too slow; events were dropped", "dropped", n)
	}
	return d
}

func (d *dispatcher) publish(n notice) {
	if d != nil {
		d.put(n)
	}
}

// tellFrom tells the observers from the i-th on: each of them, whatever those before it did.
func (d *dispatcher) tellFrom(i int, n notice) {
	if i < len(d.observers) {
		defer d.tellFrom(i+1, n)
		d.call(d.observers[i], n.event)
	} else if n.told != nil {
		n.told()
	}
}

func (d *dispatcher) call(observer func(Event), e Event) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			d.log.write(slog.LevelError, "an observer panicked", "event", e.Kind, "panic", p)
		} else if !returned {
			d.log.write(slog.LevelError, "an observer ended its goroutine", "event", e.Kind)
		}
	}()
	observer(e)
	returned = true
}

func (d *dispatcher) drained() <-chan struct{} {
	if d == nil {
		return closed
	}
	return d.queue.drained()
}
