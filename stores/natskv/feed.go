package natskv

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// Pauses between the attempts to restore a consumer. The first is short, since most interruptions are.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// feed serves all watches of a store from two goroutines: one reads what the server sends, the other delivers. What
// happens to an election while it waits for the second is merged.
type feed struct {
	store  *Store
	ctx    context.Context // of the feed, from its first watch to its last
	cancel context.CancelFunc
	wake   chan struct{}

	mu      sync.Mutex
	watches map[string][]*watch // by key
	due     map[*watch]bool
	held    map[string]entry // what the bucket holds; nil while that is not known
	floor   uint64
	broken  error // why it is not known; nil at the very start
}

func newFeed(s *Store) *feed {
	f := &feed{
		store: s, wake: make(chan struct{}, 1), watches: make(map[string][]*watch), due: make(map[*watch]bool),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

func (f *feed) add(w *watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches[w.key] = append(f.watches[w.key], w)
	f.look(w)
}

// remove returns how many elections are still watched.
func (f *feed) remove(w *watch) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := slices.DeleteFunc(f.watches[w.key], func(other *watch) bool { return other == w })
	if f.watches[w.key] = rest; len(rest) == 0 {
		delete(f.watches, w.key)
	}
	delete(f.due, w)
	return len(f.watches)
}

// look has watches told what there is to tell. It is called with the mutex held.
func (f *feed) look(watches ...*watch) {
	for _, w := range watches {
		f.due[w] = true
	}
	select {
	case f.wake <- struct{}{}:
	default: // there is a signal that was not seen yet
	}
}

func (f *feed) lookAll() {
	for _, watches := range f.watches {
		f.look(watches...)
	}
}

// listen reads consumer after consumer until the feed ends.
func (f *feed) listen() {
	pause := firstPause
	for {
		started := time.Now()
		err := f.read()
		if f.ctx.Err() != nil {
			return
		}
		f.interrupt(err)
		f.store.revive(f.ctx, err)
		if pause *= 2; time.Since(started) > lastPause {
			pause = firstPause
		}
		select {
		case <-time.After(min(pause, lastPause)):
		case <-f.ctx.Done():
			return
		}
	}
}

// read takes in what one consumer brings until that ends.
func (f *feed) read() error {
	// A server that hangs while the consumer is made is not waited for longer than one that falls silent later.
	ctx, cancel := context.WithTimeout(f.ctx, max(f.store.config.heartbeat*5/2, time.Second))
	c, err := f.store.consume(ctx, false)
	cancel()
	if err != nil {
		return err
	}
	defer c.close()
	held := make(map[string]entry)
	for !c.complete() {
		e, err := c.next(f.ctx)
		if err != nil {
			return err
		}
		if e.sequence != 0 {
			held[e.key] = e
		}
	}
	f.begin(held)
	for {
		e, err := c.next(f.ctx)
		if err != nil {
			return err
		}
		if e.sequence != 0 {
			f.change(e)
		}
	}
}

// begin takes in what the bucket holds.
func (f *feed) begin(held map[string]entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.broken = held, nil
	f.raise(held[floorKey])
	f.lookAll()
}

func (f *feed) change(e entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held[e.key] = e
	f.raise(e)
	f.look(f.watches[e.key]...)
}

// raise takes in the floor. A damaged one is left to those who create records.
func (f *feed) raise(e entry) {
	if e.key != floorKey {
		return
	}
	if floor, err := e.floor(); err == nil {
		f.floor = floor
	}
}

func (f *feed) interrupt(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.broken = nil, fmt.Errorf("interrupted: %w", err)
	f.lookAll()
}

// serve delivers until the feed ends.
func (f *feed) serve() {
	for {
		select {
		case <-f.wake:
		case <-f.ctx.Done():
			return
		}
		for f.ctx.Err() == nil && f.deliver() {
		}
	}
}

// deliver tells one watch that is due, and reports whether there was one.
func (f *feed) deliver() bool {
	w, snapshot, err := f.take()
	if w == nil {
		return false
	}
	w.tell(snapshot, err)
	return true
}

// take returns a watch that is due and what to tell it.
func (f *feed) take() (*watch, tenure.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil && f.broken == nil {
		return nil, tenure.Snapshot{}, nil // all are due again when there is something to tell
	}
	for w := range f.due {
		delete(f.due, w)
		if f.held == nil {
			return w, tenure.Snapshot{}, f.broken
		}
		snapshot, err := f.held[w.key].snapshot(f.floor)
		return w, snapshot, err
	}
	return nil, tenure.Snapshot{}, nil
}

// sayClosed tells every watch that the store was closed. Nothing of the feed runs any more.
func (f *feed) sayClosed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, watches := range f.watches {
		for _, w := range watches {
			w.tell(tenure.Snapshot{}, errClosed)
			w.stop()
		}
	}
}
