package redis

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

const (
	// answerWithin is how long a subscription may owe an answer.
	answerWithin = 3 * time.Second
	// firstPause and longestPause space the attempts to restore what was interrupted.
	firstPause, longestPause = 50 * time.Millisecond, time.Second
)

// Why a subscription is interrupted.
var (
	errSilent = errors.New("the subscription does not answer")
	errMoved  = errors.New("the slot moves to another master")
	errMissed = errors.New("the subscription has missed a change: its server may not be the master any more")
)

// feed serves all watches of a store. One goroutine, in serve, subscribes, loads and probes; each line has one that
// delivers. Whatever those two agree on is guarded by mu, which nobody holds while he waits for a server or delivers.
type feed struct {
	store  *Store
	ctx    context.Context // ends with the feed
	cancel context.CancelFunc
	wake   chan struct{}
	ended  sync.WaitGroup

	mu      sync.Mutex
	started bool
	closed  bool
	topics  map[string]*topic // by channel
	lines   map[string]*line  // by address of the server in a Cluster, else one
	due     map[*topic]time.Time
}

// topic is an election that somebody watches.
type topic struct {
	election, channel string

	// Guarded by the feed's mutex.
	watches   []*watch
	line      *line // nil while it is to be subscribed
	confirmed bool  // by the server, so that no change is missed from now on
	waiting   []claim
	checks    []*check
	pause     time.Duration
}

// check finds the current state of a topic. What is loaded may be older or newer than the changes that arrive
// meanwhile; but what arrived before the answer to a ping that was sent after the load is all that the load can have
// seen. So the current state is the last such change, and if there is none, what was loaded.
type check struct {
	topic  *topic
	claims []claim
	loaded tenure.Snapshot
	latest *tenure.Snapshot // change that has arrived since
}

func (c *check) state() tenure.Snapshot {
	if c.latest != nil {
		return *c.latest
	}
	return c.loaded
}

func newFeed(s *Store) *feed {
	ctx, cancel := context.WithCancel(context.Background())
	return &feed{
		store: s, ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1),
		topics: map[string]*topic{}, lines: map[string]*line{}, due: map[*topic]time.Time{},
	}
}

func (f *feed) add(w *watch) error {
	channel := f.store.layout.channel(w.election)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	if !f.started {
		f.started = true
		f.ended.Go(f.serve)
	}
	t := f.topics[channel]
	if t == nil {
		t = &topic{election: w.election, channel: channel}
		f.topics[channel] = t
	}
	t.watches = append(t.watches, w)
	t.waiting = append(t.waiting, w.claim())
	f.look(t, 0)
	return nil
}

func (f *feed) remove(w *watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.topics[f.store.layout.channel(w.election)]
	if t == nil {
		return
	}
	t.watches = slices.DeleteFunc(t.watches, func(other *watch) bool { return other == w })
	t.waiting = slices.DeleteFunc(t.waiting, func(c claim) bool { return c.watch == w })
	if len(t.watches) == 0 {
		f.look(t, 0)
	}
}

// close tells every watch, and waits until all goroutines have ended.
func (f *feed) close() {
	f.mu.Lock()
	f.closed = true
	var watches []*watch
	for _, t := range f.topics {
		watches = append(watches, t.watches...)
	}
	lines := f.lines
	f.topics, f.lines, f.due = map[string]*topic{}, map[string]*line{}, map[*topic]time.Time{}
	f.mu.Unlock()

	f.cancel()
	for _, l := range lines {
		l.hangUp()
	}
	f.ended.Wait()
	for _, w := range watches {
		w.interrupt(errClosed)
		w.end()
	}
}

// look has a topic looked at after a while. It is called with the mutex held.
func (f *feed) look(t *topic, after time.Duration) {
	at := time.Now().Add(after)
	if earlier, ok := f.due[t]; ok && earlier.Before(at) {
		at = earlier
	}
	f.due[t] = at
	f.ring()
}

func (f *feed) ring() {
	select {
	case f.wake <- struct{}{}:
	default: // there is a ring that was not heard yet
	}
}

// serve does what takes a server's time.
func (f *feed) serve() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for f.ctx.Err() == nil {
		for _, t := range f.take() {
			f.tend(t)
		}
		for _, l := range f.all() {
			f.probe(l)
		}
		timer.Reset(f.next())
		select {
		case <-f.ctx.Done():
		case <-f.wake:
		case <-timer.C:
		}
	}
}

// take returns the topics that are due.
func (f *feed) take() []*topic {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	var due []*topic
	for t, at := range f.due {
		if !at.After(now) {
			delete(f.due, t)
			due = append(due, t)
		}
	}
	return due
}

func (f *feed) all() []*line {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := make([]*line, 0, len(f.lines))
	for _, l := range f.lines {
		lines = append(lines, l)
	}
	return lines
}

// next returns how long nothing is to be done unless somebody rings.
func (f *feed) next() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := time.Hour
	for _, at := range f.due {
		wait = min(wait, time.Until(at))
	}
	for _, l := range f.lines {
		wait = min(wait, l.patience(f.store.config.ping))
	}
	return max(wait, 0)
}

// tend brings a topic one step further: subscribed, its current state asked for, or given up.
func (f *feed) tend(t *topic) {
	f.mu.Lock()
	l, confirmed, abandoned := t.line, t.confirmed, len(t.watches) == 0
	if f.topics[t.channel] != t {
		f.mu.Unlock()
		return
	}
	if abandoned {
		delete(f.topics, t.channel)
		t.detach()
	}
	f.mu.Unlock()
	switch {
	case abandoned:
		f.leave(l, t.channel)
	case l == nil:
		f.subscribe(t)
	case confirmed:
		f.check(t, l)
	}
}

// detach takes a topic from its line. It is called with the feed's mutex held.
func (t *topic) detach() {
	if t.line != nil {
		delete(t.line.topics, t)
	}
	t.line, t.confirmed, t.checks, t.waiting = nil, false, nil, nil
}

// leave ends a subscription that nobody needs any more, and the line with the last of them.
func (f *feed) leave(l *line, channel string) {
	if l == nil {
		return
	}
	f.mu.Lock()
	last := len(l.topics) == 0
	if last {
		f.forget(l)
	}
	f.mu.Unlock()
	if last {
		l.hangUp()
	} else if err := l.unsubscribe(channel); err != nil {
		f.lost(l, err)
	}
}

// forget has a line replaced when it is needed again. It is called with the mutex held.
func (f *feed) forget(l *line) {
	l.broken = true
	if f.lines[l.node] == l {
		delete(f.lines, l.node)
	}
}

func (f *feed) subscribe(t *topic) {
	master, err := f.store.master(f.ctx, t.channel)
	if err != nil {
		f.interrupt(err, t)
		return
	}
	l, isNew := f.assign(t, master)
	if l == nil {
		return
	}
	if err := l.subscribe(t.channel); err != nil {
		f.lost(l, err)
	} else if isNew {
		f.ended.Go(func() { f.receive(l) })
	}
}

// assign gives the topic to the line of a server, nil if the feed is closed.
func (f *feed) assign(t *topic, master *redis.Client) (l *line, isNew bool) {
	node := ""
	if f.store.sharded() {
		node = master.Options().Addr
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false
	}
	l = f.lines[node]
	if l == nil {
		l, isNew = newLine(f.ctx, node, master, f.store.sharded()), true
		f.lines[node] = l
	}
	t.line = l
	l.topics[t] = true
	l.unconfirmed[t.channel]++
	return l, isNew
}

// check asks for the current state on behalf of the watches that have not had it.
func (f *feed) check(t *topic, l *line) {
	c := f.newCheck(t, l)
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(f.ctx, answerWithin)
	defer cancel()
	loaded, err := f.store.load(ctx, t.election)
	if err != nil {
		f.interrupt(err, t)
		return
	}
	f.mu.Lock()
	c.loaded = loaded
	l.pings++
	id := strconv.Itoa(l.pings)
	l.checks[id] = c
	f.mu.Unlock()
	if err := l.ping(id); err != nil {
		f.lost(l, err)
	}
}

func (f *feed) newCheck(t *topic, l *line) *check {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(t.waiting) == 0 || t.line != l {
		return nil
	}
	c := &check{topic: t, claims: t.waiting}
	t.waiting = nil
	t.checks = append(t.checks, c)
	return c
}

// probe pings a line that was silent for long, and gives up one that owes an answer.
func (f *feed) probe(l *line) {
	switch l.health(f.store.config.ping) {
	case overdue:
		f.lost(l, errSilent)
	case silent:
		if err := l.ping(""); err != nil {
			f.lost(l, err)
		}
	case sound:
	}
}

// lost gives up a line. Its topics are subscribed anew, wherever their servers are now.
func (f *feed) lost(l *line, err error) {
	f.mu.Lock()
	if l.broken {
		f.mu.Unlock()
		return
	}
	f.forget(l)
	topics := slices.Collect(maps.Keys(l.topics))
	f.mu.Unlock()
	l.hangUp()
	f.interrupt(err, topics...)
}

// interrupt tells the watches of topics that nothing arrives any more, and has the topics subscribed anew.
func (f *feed) interrupt(err error, topics ...*topic) {
	f.mu.Lock()
	var watches []*watch
	for _, t := range topics {
		t.detach()
		watches = append(watches, t.watches...)
	}
	f.mu.Unlock()
	f.store.reroute(f.ctx)
	if hopeless := failed(err); errors.Is(hopeless, tenure.ErrPermanent) {
		err = hopeless
	}
	for _, w := range watches {
		w.interrupt(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		t.waiting = nil
		for _, w := range t.watches {
			t.waiting = append(t.waiting, w.claim())
		}
		t.pause = min(max(2*t.pause, firstPause), longestPause)
		f.look(t, t.pause/2+rand.N(t.pause/2)) // not all processes at once
	}
}
