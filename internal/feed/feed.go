// Package feed serves the watches of a store whose server pushes the changes of all elections at once. However many
// watches there are, two goroutines serve them: one reads what the server sends, the other delivers. What happens to an
// election while it waits for the second is merged.
package feed

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// Pauses between the attempts to restore what was interrupted. The first is short, since most interruptions are.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// Entry is what the server holds of an election. Its zero value stands for nothing.
type Entry interface {
	// Snapshot returns what callers see. floor is that of the whole store.
	Snapshot(floor uint64) (tenure.Snapshot, error)
}

// Config says where changes come from. All fields but Ended are needed.
type Config[E Entry] struct {
	// Read takes in what the server sends until that ends, or ctx does: everything that it holds by Begin, and then
	// the changes by Change. It is called again after an interruption, and when it reads less than is watched (Only).
	Read func(ctx context.Context, to *Feed[E]) error
	// Ended is called after Read has ended by itself, and the watches may have been told; nil for nothing.
	Ended func(ctx context.Context, err error)
	// Explain adds what was done to an error that is delivered.
	Explain func(election string, err error) error
	// Closed is what watches are told at last.
	Closed error
}

// Feed reads from the first of its watches to the last.
type Feed[E Entry] struct {
	config Config[E]
	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{}

	mu      sync.Mutex
	watches map[string][]*watch // by key
	due     map[*watch]bool
	held    map[string]E // what the server holds, by key; nil while that is not known
	floor   uint64
	broken  error              // why it is not known; nil at the very start, and where more is being read
	only    string             // the one key that is read; empty: all are
	reread  context.CancelFunc // ends the Read that is under way
	stale   bool               // the Read that is under way reads too little
}

// newFeed has its first watch before anything is read, so that Only tells the truth from the start.
func newFeed[E Entry](c Config[E], first *watch) *Feed[E] {
	f := &Feed[E]{
		config: c, wake: make(chan struct{}, 1), watches: make(map[string][]*watch), due: make(map[*watch]bool),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.add(first)
	return f
}

func (f *Feed[E]) add(w *watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches[w.key] = append(f.watches[w.key], w)
	if f.only != "" && f.only != w.key {
		f.only, f.held, f.broken, f.stale = "", nil, nil, true
		f.reread()
	}
	f.look(w)
}

// remove returns how many elections are still watched.
func (f *Feed[E]) remove(w *watch) int {
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
func (f *Feed[E]) look(watches ...*watch) {
	for _, w := range watches {
		f.due[w] = true
	}
	select {
	case f.wake <- struct{}{}:
	default: // there is a signal that was not seen yet
	}
}

func (f *Feed[E]) lookAll() {
	for _, watches := range f.watches {
		f.look(watches...)
	}
}

// listen reads again and again until the feed ends.
func (f *Feed[E]) listen() {
	pause := firstPause
	for {
		started := time.Now()
		ctx := f.turn()
		err := f.config.Read(ctx, f)
		switch {
		case f.ctx.Err() != nil:
			return
		case ctx.Err() != nil:
			continue // more is to be read, of which nobody has to be told
		}
		f.interrupt(err)
		if f.config.Ended != nil {
			f.config.Ended(f.ctx, err)
		}
		if pause = min(2*pause, lastPause); time.Since(started) > lastPause {
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-f.ctx.Done():
			return
		}
	}
}

// turn returns the context of the next Read.
func (f *Feed[E]) turn() context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reread != nil {
		f.reread()
	}
	f.only, f.stale = "", false
	ctx, cancel := context.WithCancel(f.ctx)
	f.reread = cancel
	return ctx
}

// Only returns the key that is watched if there is only one. Read may then read that alone: as soon as another is
// watched its context ends, what it still takes in is left out, and it is called anew.
func (f *Feed[E]) Only() (key string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watches) != 1 {
		return "", false
	}
	for key = range f.watches {
		f.only = key
	}
	return key, true
}

// Begin takes in what the server holds, by key, and the floor. The feed keeps held.
func (f *Feed[E]) Begin(held map[string]E, floor uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stale {
		return
	}
	f.held, f.floor, f.broken = held, floor, nil
	f.lookAll()
}

// Change takes in what the server holds of one key now.
func (f *Feed[E]) Change(key string, e E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stale {
		return
	}
	f.held[key] = e
	f.look(f.watches[key]...)
}

// Raise takes in another floor.
func (f *Feed[E]) Raise(floor uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.floor = floor
}

func (f *Feed[E]) interrupt(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.broken = nil, fmt.Errorf("interrupted: %w", err)
	f.lookAll()
}

// serve delivers until the feed ends.
func (f *Feed[E]) serve() {
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
func (f *Feed[E]) deliver() bool {
	w, snapshot, err := f.take()
	if w == nil {
		return false
	}
	f.tell(w, snapshot, err, false)
	return true
}

// take returns a watch that is due and what to tell it.
func (f *Feed[E]) take() (*watch, tenure.Snapshot, error) {
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
		snapshot, err := f.held[w.key].Snapshot(f.floor)
		return w, snapshot, err
	}
	return nil, tenure.Snapshot{}, nil
}

func (f *Feed[E]) tell(w *watch, snapshot tenure.Snapshot, err error, closed bool) {
	if err != nil {
		err = f.config.Explain(w.election, err)
	}
	w.tell(snapshot, err, closed)
}

// sayClosed tells every watch that the store was closed. Nothing of the feed runs any more.
func (f *Feed[E]) sayClosed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, watches := range f.watches {
		for _, w := range watches {
			f.tell(w, tenure.Snapshot{}, f.config.Closed, true)
			w.stop()
		}
	}
}
