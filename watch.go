package tenure

import (
	"context"
	"sync"

	"github.com/tenure-go/tenure/internal/protocol"
)

// watch is the subscription of a stint to its store's changes, from the first try to set it up until its stop.
type watch struct {
	quit context.CancelFunc
	done chan struct{} // closed when the set-up has ended

	mu     sync.Mutex
	cancel func() // ends the store's watch, nil until there is one
}

// startWatch sets up the watch, if the store has one, in the background: candidates poll until it delivers. It takes
// the place of an earlier one that went silent.
func (s *stint) startWatch() {
	watcher, ok := s.c.store.(Watcher)
	if !ok {
		return
	}
	ctx, quit := context.WithCancel(s.base)
	w, old := &watch{quit: quit, done: make(chan struct{})}, s.watch
	s.watch = w
	go func() {
		if old != nil {
			old.stop()
		}
		w.run(ctx, s.c, watcher)
	}()
}

// run sets the watch up. It goes on with another goroutine if the store has ended this one.
func (w *watch) run(ctx context.Context, c *Candidate, watcher Watcher) {
	returned := false
	defer func() {
		if returned {
			w.quit() // the watch itself does not end with the context of its set-up
			close(w.done)
			return
		}
		c.deliver(Snapshot{}, errCallGoexit)
		go func() {
			_ = sleep(ctx, c.config.PollEvery)
			w.run(ctx, c, watcher)
		}()
	}()
	w.setUp(ctx, c, watcher)
	returned = true
}

// setUp tries until it succeeds. What the store does about a watch once it stands is the store's concern.
func (w *watch) setUp(ctx context.Context, c *Candidate, watcher Watcher) {
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, c.config.TTL)
		stop, err := watcher.Watch(bounded, c.election, c.deliver)
		cancel()
		if err == nil {
			w.mu.Lock()
			w.cancel = stop
			w.mu.Unlock()
			return
		}
		c.deliver(Snapshot{}, err)
		_ = sleep(ctx, c.config.PollEvery)
	}
}

// stop ends the watch; nothing is delivered after it has returned.
func (w *watch) stop() {
	w.quit()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel()
	}
}

// deliver takes in what the store pushes.
func (c *Candidate) deliver(snapshot Snapshot, err error) {
	if err != nil {
		c.inbox.post(message{protocol.Input{Kind: protocol.WatchLost}, err})
		return
	}
	c.inbox.post(message{input: protocol.Input{Kind: protocol.Pushed, Snapshot: toProtocol(snapshot)}})
}
