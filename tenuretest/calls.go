package tenuretest

import (
	"errors"
	"sync"

	"github.com/tenure-go/tenure"
)

// Op is a set of methods of a store.
type Op uint8

// The methods of a store. Combine them by OR.
const (
	OpLoad      Op = 1 << iota // Load
	OpSwap                     // CompareAndSwap
	OpWatch                    // Watch, and what a watch delivers
	OpList                     // List
	OpPrune                    // Prune
	OpGuarantee                // Guarantee

	OpAll = OpLoad | OpSwap | OpWatch | OpList | OpPrune | OpGuarantee
)

// Calls counts the calls that a [Faulty] has had, by method.
type Calls struct {
	Load, Swap, Watch, List, Prune, Guarantee Tally

	// Deliveries counts what watches have delivered, interruptions included.
	Deliveries int
}

// Tally counts the calls of one method by what the caller was told, whatever became of the call at the store.
type Tally struct {
	Pending    int // not returned yet
	Done       int // no error
	Conflict   int // tenure.ErrConflict
	NotApplied int // tenure.ErrNotApplied
	Permanent  int // tenure.ErrPermanent
	Failed     int // any other error: to a swap, an unknown outcome
}

// Total returns the number of calls that have been made.
func (t Tally) Total() int {
	return t.Pending + t.Done + t.Conflict + t.NotApplied + t.Permanent + t.Failed
}

// ledger is Calls under a lock.
type ledger struct {
	mu    sync.Mutex
	calls Calls
}

func (l *ledger) read() Calls {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

func (l *ledger) begin(op Op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls.of(op).Pending++
}

func (l *ledger) end(op Op, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tally := l.calls.of(op)
	tally.Pending--
	*told(tally, err)++
}

func (l *ledger) delivered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls.Deliveries++
}

func (c *Calls) of(op Op) *Tally {
	switch op {
	case OpLoad:
		return &c.Load
	case OpSwap:
		return &c.Swap
	case OpWatch:
		return &c.Watch
	case OpList:
		return &c.List
	case OpPrune:
		return &c.Prune
	default:
		return &c.Guarantee
	}
}

// told returns the count for what a caller was told.
func told(t *Tally, err error) *int {
	switch {
	case err == nil:
		return &t.Done
	case errors.Is(err, tenure.ErrConflict):
		return &t.Conflict
	case errors.Is(err, tenure.ErrNotApplied):
		return &t.NotApplied
	case errors.Is(err, tenure.ErrPermanent):
		return &t.Permanent
	default:
		return &t.Failed
	}
}
