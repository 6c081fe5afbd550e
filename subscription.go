package tenure

import (
	"context"
	"time"
)

// subscribe asks for pushes beside the loop, if the store has them, until ctx ends. The function that it returns waits
// until nothing is delivered any more, for the grace at most if the store does not heed its context.
func (o *observer) subscribe(ctx context.Context) (end func()) {
	watcher, ok := o.store.(Watcher)
	if !ok {
		return func() {}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if stop := o.setUp(ctx, watcher); stop != nil {
			<-ctx.Done()
			stop()
		}
	}()
	return func() {
		select {
		case <-ended:
		case <-time.After(grace):
		}
	}
}

// setUp tries now and then until there is a watch. Polling goes on meanwhile, and tells what fails.
func (o *observer) setUp(ctx context.Context, watcher Watcher) (stop func()) {
	for pause := DefaultTTL; ; pause = min(2*pause, time.Minute) {
		bounded, cancel := context.WithTimeout(ctx, DefaultTTL)
		r := <-begin(func() (func(), error) { return watcher.Watch(bounded, o.election, o.deliver) })
		cancel()
		if r.err == nil {
			return r.value
		}
		if sleep(ctx, pause) != nil {
			return nil
		}
	}
}

// deliver keeps a push until it is taken. It is never called concurrently with itself.
func (o *observer) deliver(s Snapshot, err error) {
	for next := (arrival{snapshot: s, err: err}); ; {
		select {
		case o.pushed <- next:
			return
		default:
		}
		select {
		case waiting := <-o.pushed:
			next = later(waiting, next)
		default:
		}
	}
}

// later returns the one of two pushes that says more of the present.
func later(waiting, next arrival) arrival {
	switch {
	case waiting.err != nil:
		next.skipped = waiting.skipped // the watch stands again
	case next.err != nil:
		next.skipped = true
	case compareSnapshots(next.snapshot, waiting.snapshot) < 0:
		next = waiting
		next.skipped = true
	default:
		next.skipped = waiting.skipped
	}
	return next
}
