package feed

import (
	"sync"

	"github.com/tenure-go/tenure"
)

// Feeds has one feed at a time, while anything is watched. Its methods are safe for concurrent use.
type Feeds[E Entry] struct {
	config Config[E]

	mu     sync.Mutex
	feed   *Feed[E] // nil while nothing is watched
	closed bool
	ended  sync.WaitGroup
}

// New returns feeds that read nothing yet.
func New[E Entry](c Config[E]) *Feeds[E] { return &Feeds[E]{config: c} }

// Watch has deliver called with the state of a key's election, as [tenure.Watcher] says, until stop is called. It fails
// only after Close.
func (f *Feeds[E]) Watch(election, key string, deliver func(tenure.Snapshot, error)) (stop func(), err error) {
	w := &watch{election: election, key: key, deliver: deliver}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, f.config.Explain(election, f.config.Closed)
	}
	if f.feed == nil {
		f.feed = newFeed(f.config, w)
		f.ended.Go(f.feed.listen)
		f.ended.Go(f.feed.serve)
	} else {
		f.feed.add(w)
	}
	return func() { f.remove(w) }, nil
}

// remove ends a watch, and with the last of them the feed.
func (f *Feeds[E]) remove(w *watch) {
	f.mu.Lock()
	if f.feed != nil && f.feed.remove(w) == 0 {
		f.feed.cancel()
		f.feed = nil
	}
	f.mu.Unlock()
	w.stop()
}

// Closed reports whether Close was called.
func (f *Feeds[E]) Closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Close tells each watch that the store was closed, by a last delivery. When it returns nothing runs any more.
func (f *Feeds[E]) Close() {
	f.mu.Lock()
	last := f.feed
	f.feed, f.closed = nil, true
	f.mu.Unlock()
	if last != nil {
		last.cancel()
	}
	f.ended.Wait()
	if last != nil {
		last.sayClosed()
	}
}
