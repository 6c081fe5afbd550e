package tenuretest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// Faulty is a store with faults between it and its caller. Without a fault it does what the store does that it was
// made from by [NewFaulty]. All methods are safe for concurrent use.
type Faulty interface {
	tenure.Store

	// Inject puts faults in force. They apply to the calls that begin from now on, and to what running watches
	// deliver from now on. Several that apply to one call act in the order of their injection, the first next to the
	// caller. A call whose context has already ended meets none.
	//
	// heal takes the faults back, once: what they held is released before it returns, or soon after. It may be
	// called from anywhere but a deliver function, as may Inject and Heal.
	Inject(faults ...Fault) (heal func())

	// Heal takes all faults back.
	Heal()

	// Calls returns how many calls there have been. They are counted as their caller sees them: a repeated swap is
	// one call, and a lost reply a failed one.
	Calls() Calls
}

// NewFaulty returns store with faults to be injected. It implements [tenure.Watcher], [tenure.Lister] and
// [tenure.Pruner] if store does; that is why it is an interface. [tenure.Guarantor] and [tenure.TTLUnit] it always
// implements, and answers for a store that does not what their absence means.
//
// Wrapped several times, one store makes clients that fail each on its own. A store without its optional interfaces,
// to test polling for one, is struct{ tenure.Store }{store}.
func NewFaulty(store tenure.Store) Faulty {
	f := &faulty{store: store, seen: &sightings{snapshots: make(map[string]tenure.Snapshot)}}
	watcher, watches := store.(tenure.Watcher)
	lister, lists := store.(tenure.Lister)
	pruner, prunes := store.(tenure.Pruner)
	w, l, p := faultyWatcher{f, watcher}, faultyLister{f, lister}, faultyPruner{f, pruner}
	switch {
	case watches && lists && prunes:
		return struct {
			*faulty
			tenure.Watcher
			tenure.Lister
			tenure.Pruner
		}{f, w, l, p}
	case watches && lists:
		return struct {
			*faulty
			tenure.Watcher
			tenure.Lister
		}{f, w, l}
	case watches && prunes:
		return struct {
			*faulty
			tenure.Watcher
			tenure.Pruner
		}{f, w, p}
	case lists && prunes:
		return struct {
			*faulty
			tenure.Lister
			tenure.Pruner
		}{f, l, p}
	case watches:
		return struct {
			*faulty
			tenure.Watcher
		}{f, w}
	case lists:
		return struct {
			*faulty
			tenure.Lister
		}{f, l}
	case prunes:
		return struct {
			*faulty
			tenure.Pruner
		}{f, p}
	}
	return f
}

// faulty is what every Faulty has.
type faulty struct {
	store  tenure.Store
	seen   *sightings
	ledger ledger

	mu         sync.Mutex
	injections []*injection
	watches    []*faultyWatch
}

func (f *faulty) Inject(faults ...Fault) (heal func()) {
	f.mu.Lock()
	var injections []*injection
	for _, fault := range faults {
		injections = append(injections, f.begin(fault))
	}
	watches := slices.Clone(f.watches)
	f.mu.Unlock()
	for _, fault := range faults {
		for _, w := range watches {
			w.interrupt(fault.interruption)
		}
	}
	return func() { f.end(injections) }
}

func (f *faulty) Heal() {
	f.mu.Lock()
	injections := slices.Clone(f.injections)
	f.mu.Unlock()
	f.end(injections)
}

func (f *faulty) Calls() Calls { return f.ledger.read() }

func (f *faulty) begin(fault Fault) *injection {
	in := &injection{Fault: fault, left: -1, healed: make(chan struct{}), past: f.seen.copy()}
	if fault.times > 0 {
		in.left = fault.times
	}
	if fault.lasts > 0 {
		time.AfterFunc(fault.lasts, func() { f.end([]*injection{in}) })
	}
	f.injections = append(f.injections, in)
	return in
}

func (f *faulty) end(injections []*injection) {
	f.mu.Lock()
	for _, in := range injections {
		if i := slices.Index(f.injections, in); i >= 0 {
			f.injections = slices.Delete(f.injections, i, i+1)
			close(in.healed)
		}
	}
	watches := slices.Clone(f.watches)
	f.mu.Unlock()
	for _, w := range watches {
		w.catchUp()
	}
}

// call makes a call to the store through the faults that are in force at its beginning.
func (f *faulty) call(ctx context.Context, op Op, election string, send exchange) (any, error) {
	f.mu.Lock()
	injections := slices.Clone(f.injections)
	f.mu.Unlock()
	if ctx.Err() != nil {
		injections = nil
	}
	f.ledger.begin(op)
	result, err := f.pass(ctx, op, election, injections, send)
	f.ledger.end(op, err)
	return result, err
}

// pass sends a call through the first of the faults that applies to it, and from there on through the others.
func (f *faulty) pass(
	ctx context.Context, op Op, election string, injections []*injection, send exchange,
) (any, error) {
	for i, in := range injections {
		if in.act != nil && f.take(in, op) {
			return in.act(ctx, in, election, func(ctx context.Context) (any, error) {
				return f.pass(ctx, op, election, injections[i+1:], send)
			})
		}
	}
	return send(ctx)
}

// take reports whether the fault applies once more, and counts it.
func (f *faulty) take(in *injection, op Op) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !in.applies(op) {
		return false
	}
	in.left--
	return true
}

// deliveryFate returns what becomes of a delivery now, by the first fault that is about deliveries.
func (f *faulty) deliveryFate() fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range f.injections {
		if in.deliveries != passed && in.applies(OpWatch) {
			if in.deliveries == lost {
				in.left--
			}
			return in.deliveries
		}
	}
	return passed
}
