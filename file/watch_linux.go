package file

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

var _ tenure.Watcher = (*Store)(nil)

const (
	// closeWait bounds for how long a lock is probed after the kernel announced its last close: the announcement comes
	// a moment before the lock is free. Each pause is as long as all before it, and closePause at least.
	closeWait  = time.Second
	closePause = 100 * time.Microsecond
	// repairPause spaces the attempts to read what could not be read, and to restore what was interrupted.
	repairPause = 250 * time.Millisecond
)

// watches serves all watches of a store from two goroutines: one reads what inotify reports, the other loads and
// delivers. The first makes no use of the disk, so the kernel's queue hardly ever overflows, and what happens to an
// election while it waits for the second is merged.
type watches struct {
	mu     sync.Mutex
	byStem map[string][]*watch
	due    map[*watch][]string // what to look at, and the term locks whose last close was announced
	source *notifier           // nil before the first watch and while interrupted
	broken error               // why source is nil
	closed bool
	wake   chan struct{} // made with the first watch
	ended  sync.WaitGroup
}

// watch is one caller of Watch.
type watch struct {
	election string
	stem     string

	// deliver is called, and stopped and said change, under mu. So stop waits for a delivery that is under way.
	mu      sync.Mutex
	deliver func(tenure.Snapshot, error)
	stopped bool
	said    said

	// The rest belongs to the goroutine that delivers.
	closing string // the term lock whose last close was announced, while it is not free yet
	since   time.Time
}

// said is what a watch was told last, so that it is not told twice.
type said struct {
	version   tenure.Version
	floor     uint64
	abandoned bool
	failure   string
	anything  bool
}

// Watch implements [tenure.Watcher]. A change is delivered some tens of microseconds after it was made, by whichever
// process. So is the death of a leader: the kernel announces the last close of its term's lock, after kill -9 too.
//
// All watches of a Store share one inotify instance, of which a user has 128 on most systems
// (fs.inotify.max_user_instances), and two goroutines, so a deliver function that blocks against the rules holds up
// the others. If the directory is removed or unmounted, each watch is told once, and again when it is back. The last
// thing that a watch is told is [tenure.ErrPermanent], when the store is closed.
func (s *Store) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := s.enter(ctx, election); err != nil {
		return nil, fmt.Errorf("file: watching %q: %w", election, err)
	}
	w := &watch{election: election, stem: stem(election), deliver: deliver}
	if err := s.watches.add(s, w); err != nil {
		return nil, fmt.Errorf("file: watching %q: %w", election, failed(err))
	}
	return func() { s.watches.remove(w) }, nil
}

func (l *watches) add(s *Store, w *watch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	if err := l.start(s); err != nil {
		return err
	}
	l.byStem[w.stem] = append(l.byStem[w.stem], w)
	l.look(w)
	return nil
}

// start makes what all watches share, with the first of them.
func (l *watches) start(s *Store) error {
	if l.wake != nil {
		return nil
	}
	source, err := newNotifier(s.layout)
	if err != nil {
		return err
	}
	l.byStem, l.due, l.wake = make(map[string][]*watch), make(map[*watch][]string), make(chan struct{}, 1)
	l.listen(source)
	l.ended.Go(func() { l.serve(s) })
	return nil
}

// listen is called with the mutex held.
func (l *watches) listen(source *notifier) {
	l.source, l.broken = source, nil
	l.ended.Go(func() { l.read(source) })
}

func (l *watches) remove(w *watch) {
	l.mu.Lock()
	l.byStem[w.stem] = slices.DeleteFunc(l.byStem[w.stem], func(other *watch) bool { return other == w })
	if len(l.byStem[w.stem]) == 0 {
		delete(l.byStem, w.stem)
	}
	delete(l.due, w)
	l.mu.Unlock()

	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
}

// close tells every watch, and waits until both goroutines have ended.
func (l *watches) close() {
	l.mu.Lock()
	l.closed = true
	if l.source != nil {
		l.source.close()
	}
	if l.wake != nil {
		l.signal()
	}
	l.mu.Unlock()
	l.ended.Wait()
	for _, w := range l.all() {
		w.tell(tenure.Snapshot{}, fmt.Errorf("file: watching %q: %w", w.election, errClosed))
		l.remove(w)
	}
}

func (l *watches) all() []*watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*watch
	for _, watches := range l.byStem {
		all = append(all, watches...)
	}
	return all
}

// look has a watch looked at, for the last close of locks if some are named. It is called with the mutex held.
func (l *watches) look(w *watch, closed ...string) {
	l.due[w] = append(l.due[w], closed...)
	l.signal()
}

func (l *watches) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // there is a signal that was not seen yet
	}
}

// read passes on what inotify reports until it ends.
func (l *watches) read(source *notifier) {
	err := source.read(l.notice)
	source.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.source == source {
		l.source, l.broken = nil, err
		l.signal()
	}
}

func (l *watches) notice(events []event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		switch {
		case e.overflow:
			l.lookAll()
		case e.closed:
			l.lookAt(e.name, e.name)
		default:
			l.lookAt(e.name)
		}
	}
}

// lookAt has the watches of the election that a file belongs to looked at.
func (l *watches) lookAt(name string, closed ...string) {
	for _, w := range l.byStem[stemOf(name)] {
		l.look(w, closed...)
	}
}

func (l *watches) lookAll() {
	for _, watches := range l.byStem {
		for _, w := range watches {
			l.look(w)
		}
	}
}

// serve delivers until the store is closed.
func (l *watches) serve(s *Store) {
	later := make(map[*watch]time.Time)
	for {
		due, closed, broken := l.take(later)
		if closed {
			return
		}
		if broken != nil {
			// What was due is looked at when the interruption is over, with everything else.
			l.repair(s, broken)
			later, due = map[*watch]time.Time{nil: time.Now().Add(repairPause)}, nil
		}
		for w, closed := range due {
			if pause := w.refresh(s, closed); pause > 0 {
				later[w] = time.Now().Add(pause)
			}
		}
		l.wait(later)
	}
}

// take returns what is to be looked at now, be it by an event or because its pause is over.
func (l *watches) take(later map[*watch]time.Time) (due map[*watch][]string, closed bool, broken error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for w, at := range later {
		if now.Before(at) {
			continue
		}
		delete(later, w)
		if w != nil {
			l.due[w] = append(l.due[w], "")
		}
	}
	due, l.due = l.due, make(map[*watch][]string)
	return due, l.closed, l.broken
}

// wait returns when there may be something to do.
func (l *watches) wait(later map[*watch]time.Time) {
	if len(later) == 0 {
		<-l.wake
		return
	}
	first := time.Now().Add(time.Hour)
	for _, at := range later {
		if at.Before(first) {
			first = at
		}
	}
	timer := time.NewTimer(time.Until(first))
	defer timer.Stop()
	select {
	case <-l.wake:
	case <-timer.C:
	}
}

// repair tells everybody that the watch is interrupted, and restores it if the directory is back. Then everything is
// looked at, since nobody knows what happened in between.
func (l *watches) repair(s *Store, broken error) {
	for _, w := range l.all() {
		w.tell(tenure.Snapshot{}, fmt.Errorf("file: watching %q: interrupted: %w", w.election, broken))
	}
	source, err := newNotifier(s.layout)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		source.close()
		return
	}
	l.listen(source)
	l.lookAll()
}

// refresh delivers the current state. It returns after which time to look again, zero if nothing suggests to.
func (w *watch) refresh(s *Store, closed []string) time.Duration {
	snapshot, current, err := s.look(w.election)
	if err != nil {
		if !w.tell(tenure.Snapshot{}, fmt.Errorf("file: watching %q: %w", w.election, failed(err))) {
			return 0
		}
		return repairPause
	}
	if !w.tell(snapshot, nil) || snapshot.Abandoned {
		return 0
	}
	return w.pause(current.lockFile(), closed)
}

// pause returns after which time to probe the lock of the current term again: some, for a while, if its last close was
// announced.
func (w *watch) pause(lock string, closed []string) time.Duration {
	if lock != "" && slices.Contains(closed, lock) {
		w.closing, w.since = lock, time.Now()
	}
	passed := time.Since(w.since)
	if lock == "" || w.closing != lock || passed > closeWait {
		return 0
	}
	return max(closePause, passed)
}

// tell delivers what was not delivered last. It reports whether the watch still runs.
func (w *watch) tell(snapshot tenure.Snapshot, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := said{anything: true}
	if err != nil {
		now.failure = err.Error()
	} else {
		now.version, now.floor, now.abandoned = snapshot.Version, snapshot.Record.Token, snapshot.Abandoned
	}
	if !w.stopped && now != w.said {
		w.said = now
		w.deliver(snapshot, err)
	}
	return !w.stopped
}
