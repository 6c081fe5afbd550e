package tenuretest

import (
	"context"
	"slices"

	"github.com/tenure-go/tenure"
)

type faultyWatcher struct {
	*faulty
	watcher tenure.Watcher
}

func (w faultyWatcher) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	result, err := w.call(ctx, OpWatch, election, func(ctx context.Context) (any, error) {
		return w.watch(ctx, election, deliver)
	})
	stop, _ = result.(func())
	return stop, err
}

func (w faultyWatcher) watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop any, err error) {
	watch := &faultyWatch{faulty: w.faulty, election: election, deliver: deliver, turn: make(chan struct{}, 1)}
	watch.join()
	end, err := w.watcher.Watch(ctx, election, watch.receive)
	if err != nil {
		watch.leave()
		return nil, err
	}
	return func() { watch.leave(); end() }, nil
}

// faultyWatch stands between a watch of the store and the deliver function.
type faultyWatch struct {
	*faulty
	election string
	deliver  func(tenure.Snapshot, error)

	turn    chan struct{}    // holds a value during each of the methods: unlike a mutex a bubble can wait for it
	stopped bool             // whether deliver must not be called any more
	latest  *tenure.Snapshot // the last state that came from the store
	owed    bool             // whether latest is to be delivered once no fault forbids it
}

// receive is called by the store.
func (w *faultyWatch) receive(snapshot tenure.Snapshot, err error) {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if err == nil {
		w.seen.see(w.election, snapshot)
		latest := apart(snapshot)
		w.latest = &latest
	}
	w.settle(snapshot, err)
}

// settle delivers, or leaves it, as the faults in force will have it.
func (w *faultyWatch) settle(snapshot tenure.Snapshot, err error) {
	fate := w.deliveryFate()
	w.owed = fate == held
	if fate == passed {
		w.pass(snapshot, err)
	}
}

// interrupt delivers err, if there is any, and from then on owes the current state.
func (w *faultyWatch) interrupt(err error) {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if err != nil {
		w.owed = true
		w.pass(tenure.Snapshot{}, err)
	}
}

// catchUp delivers what is owed, when a fault has been healed.
func (w *faultyWatch) catchUp() {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if w.owed && w.latest != nil {
		w.settle(apart(*w.latest), nil)
	}
}

func (w *faultyWatch) pass(snapshot tenure.Snapshot, err error) {
	if !w.stopped {
		w.ledger.delivered()
		w.deliver(snapshot, err)
	}
}

func (w *faultyWatch) join() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watches = append(w.watches, w)
}

// leave returns when deliver has returned and will not be called again.
func (w *faultyWatch) leave() {
	w.mu.Lock()
	w.watches = slices.DeleteFunc(w.watches, func(other *faultyWatch) bool { return other == w })
	w.mu.Unlock()
	w.turn <- struct{}{}
	w.stopped = true
	<-w.turn
}
