package postgres

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
)

// hub serves all watches of a store: it knows what each watched election's state was last, and has it looked up when a
// notification or the clock says so.
type hub struct {
	store *Store

	mu        sync.Mutex
	elections map[string]*watched
	due       map[string]bool // elections to look up at once
	written   map[string]tenure.Snapshot
	pollAt    time.Time // when the states that nobody tells of are looked up
	sweepAt   time.Time // when all are
	nudged    bool
	interrupt func() // ends the present wait, nil if there is none
	silent    bool   // notifications do not arrive, or not yet
	heard     bool   // they do

	sessions, looks atomic.Int64 // connections that were made, and statements sent to look states up
	started, closed bool
	quit            context.CancelFunc
	done            chan struct{}
}

// watched is an election with watches.
type watched struct {
	watches []*watch
	last    tenure.Snapshot
	known   bool // last was looked up since the last interruption
	failed  bool // the watches were told of an interruption
	// own says that last is a renewal by this store: the next renewals will be, too, and need not be looked for.
	own bool
}

func newHub(s *Store) *hub {
	return &hub{
		store: s, elections: map[string]*watched{}, due: map[string]bool{}, written: map[string]tenure.Snapshot{},
		done: make(chan struct{}),
	}
}

// add reports false if the hub is closed.
func (h *hub) add(election string, w *watch) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	e := h.elections[election]
	if e == nil {
		e = &watched{}
		h.elections[election] = e
	}
	e.watches = append(e.watches, w)
	e.known = false
	h.due[election] = true
	h.start()
	h.nudge()
	return true
}

// start runs the hub with the first watch. h.mu is held.
func (h *hub) start() {
	if h.started {
		return
	}
	h.started = true
	var ctx context.Context
	ctx, h.quit = context.WithCancel(context.Background())
	go func() {
		defer close(h.done)
		h.run(ctx)
	}()
}

func (h *hub) remove(election string, w *watch) {
	h.mu.Lock()
	if e := h.elections[election]; e != nil {
		e.watches = slices.DeleteFunc(e.watches, func(other *watch) bool { return other == w })
		if len(e.watches) == 0 {
			delete(h.elections, election)
			delete(h.due, election)
			delete(h.written, election)
		}
	}
	h.mu.Unlock()
	w.stop()
}

func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	if h.started {
		h.quit()
	}
	started := h.started
	h.mu.Unlock()
	if started {
		<-h.done
		h.fail(errClosed)
	}
}

// nudge has the hub look at what is due. h.mu is held.
func (h *hub) nudge() {
	h.nudged = true
	if h.interrupt != nil {
		h.interrupt()
	}
}

// renewed takes in a renewal that this store has just written.
func (h *hub) renewed(election string, snapshot tenure.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.elections[election] == nil {
		return
	}
	if pending, ok := h.written[election]; !ok || follows(snapshot, pending) {
		h.written[election] = snapshot
		h.nudge()
	}
}

// follows reports whether a is certainly a later state than b. Replies to concurrent writes can overtake each other.
func follows(a, b tenure.Snapshot) bool {
	return a.Record.Token == b.Record.Token && a.Record.Renewals > b.Record.Renewals || a.Record.Token > b.Record.Token
}

// delivery is what is to be told to whom. It is collected under the hub's mutex and told without.
type delivery struct {
	to       []*watch
	snapshot tenure.Snapshot
	err      error
}

func tell(all []delivery) {
	for _, d := range all {
		for _, w := range d.to {
			w.tell(d.snapshot, d.err)
		}
	}
}

// deliverWritten tells of the renewals that this store has written.
func (h *hub) deliverWritten() {
	h.mu.Lock()
	var all []delivery
	for election, snapshot := range h.written {
		e := h.elections[election]
		switch {
		case !e.known: // it is about to be looked up
		case snapshot.Version == e.last.Version:
			e.own = true
		case follows(snapshot, e.last):
			e.last, e.own = snapshot, true
			all = append(all, delivery{to: slices.Clone(e.watches), snapshot: snapshot})
		}
	}
	clear(h.written)
	h.mu.Unlock()
	tell(all)
}

// found is a state as it was looked up.
type found struct {
	election string
	snapshot tenure.Snapshot
}

// deliverFound tells of the states that were looked up, to those that do not know them.
func (h *hub) deliverFound(now time.Time, states []found) {
	h.mu.Lock()
	var all []delivery
	for _, f := range states {
		e := h.elections[f.election]
		if e == nil {
			continue
		}
		changed := mark(f.snapshot) != mark(e.last) || e.failed
		to := slices.DeleteFunc(slices.Clone(e.watches), func(w *watch) bool { return !changed && !w.behind })
		for _, w := range to {
			w.behind = false
		}
		if mark(f.snapshot) != mark(e.last) {
			e.own = false
		}
		e.last, e.known, e.failed = f.snapshot, true, false
		all = append(all, delivery{to: to, snapshot: f.snapshot})
		h.pollBy(now.Add(h.interval(e)))
	}
	h.mu.Unlock()
	tell(all)
}

// mark tells states apart, as the statement that looks many up does.
func mark(s tenure.Snapshot) string {
	if !s.Exists() {
		return floorMark(s.Record.Token)
	}
	return string(s.Version)
}

// fail tells all watches of an interruption, once.
func (h *hub) fail(err error) {
	h.mu.Lock()
	var all []delivery
	for _, e := range h.elections {
		if e.failed && !h.closed {
			continue
		}
		e.failed, e.known, e.own = true, false, false
		all = append(all, delivery{to: slices.Clone(e.watches), err: err})
	}
	h.mu.Unlock()
	tell(all)
}

// restart makes everything due, on a new connection, which is not listening yet.
func (h *hub) restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sweepAt = time.Time{}
	h.silent, h.heard = true, false
}

// take returns what is due: elections, and for each the state that is known already.
func (h *hub) take(now time.Time) (elections, known []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sweep, poll := !now.Before(h.sweepAt), !now.Before(h.pollAt)
	if sweep || poll {
		for election, e := range h.elections {
			if sweep || h.silent || !e.own {
				h.due[election] = true
			}
		}
		h.plan(now, sweep)
	}
	for election := range h.due {
		elections = append(elections, election)
		have := ""
		if e := h.elections[election]; e != nil && e.known {
			have = mark(e.last)
		}
		known = append(known, have)
	}
	clear(h.due)
	return elections, known
}

// plan sets when the next look is due. h.mu is held.
func (h *hub) plan(now time.Time, swept bool) {
	if swept {
		h.sweepAt = now.Add(h.store.config.safety)
	}
	h.pollAt = h.sweepAt
	for _, e := range h.elections {
		h.pollBy(now.Add(h.interval(e)))
	}
}

func (h *hub) pollBy(at time.Time) {
	if at.Before(h.pollAt) {
		h.pollAt = at
	}
}

// interval returns how long after one look at an election the next is due. h.mu is held.
func (h *hub) interval(e *watched) time.Duration {
	c := h.store.config
	record := e.last.Record
	switch {
	case !h.silent && (e.own || record.Vacant()):
		return c.safety // its changes are told
	case c.poll != 0:
		return c.poll
	case record.TTL == 0:
		return min(c.safety, unknownPoll)
	case c.pushRenewals && !h.silent:
		return min(c.safety, max(record.TTL, minPoll))
	}
	return min(c.safety, max(record.TTL/pollShare, minPoll))
}

const (
	// pollShare is the part of a TTL by which a dead leader may be followed later, for want of a push of renewals.
	pollShare = 5
	// unknownPoll is the interval of polls for elections that never had a TTL.
	unknownPoll = tenure.DefaultTTL / pollShare
)
