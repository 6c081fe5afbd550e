package tenure

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// Term is one unbroken leadership of a candidate. A Term is a value; copies speak of the same term. All its methods
// are safe for concurrent use.
type Term struct {
	// Election is the name of the election.
	Election string
	// Leader is the ID of the candidate that leads.
	Leader string
	// Token is the fencing token: the same throughout the term, and higher than that of every earlier term of the
	// election. Pass it on to whatever the leader changes, so that a deposed leader can be refused there.
	Token uint64

	trust *trust
}

// Valid reports whether the term still stands. It reads the clock at every call, and once it was false it is never
// true again.
func (t Term) Valid() bool { return t.trust != nil && t.trust.holds() }

// Remaining returns for how long the term can still be trusted if it is not renewed, zero if it has ended.
func (t Term) Remaining() time.Duration {
	if t.trust == nil || !t.trust.holds() {
		return 0
	}
	return t.trust.remainingOnAll()
}

// Deadline returns until when the term can be trusted if it is not renewed. Every renewal moves it forward. It is the
// past if the term has ended.
func (t Term) Deadline() time.Time {
	now := time.Now()
	if left := t.Remaining(); left > 0 {
		return now.Add(left)
	}
	return now.Add(-1)
}

// trust is how far a term can be relied upon, for anybody who asks: by the clock, and never again once refused (S4).
type trust struct {
	clock      *clock.Source
	mono, wall atomic.Int64 // until when, on each clock
	boot       atomic.Int64 // the same on the one that is too dear for holds
	lost       atomic.Bool
	onLoss     func() // called when a question finds the trust over
}

func (t *trust) holds() bool {
	mono, wall := t.clock.Now()
	if int64(mono) < t.mono.Load() && int64(wall) < t.wall.Load() {
		return !t.lost.Load()
	}
	if !t.lost.Swap(true) {
		t.onLoss()
	}
	return false
}

func (t *trust) remaining() time.Duration {
	mono, wall := t.clock.Now()
	return max(0, min(time.Duration(t.mono.Load())-mono, time.Duration(t.wall.Load())-wall))
}

// remainingOnAll heeds the clock that counts suspension too, for those who set deadlines that are enforced without us.
func (t *trust) remainingOnAll() time.Duration {
	now := t.clock.Read()
	until := clock.Reading{
		Mono: time.Duration(t.mono.Load()), Wall: time.Duration(t.wall.Load()), Boot: time.Duration(t.boot.Load()),
	}
	return max(0, -now.Since(until))
}

func (t *trust) extend(until clock.Reading) {
	t.boot.Store(int64(until.Boot))
	t.wall.Store(int64(until.Wall))
	t.mono.Store(int64(until.Mono))
}

// lead is a term together with the work that is done under it.
type lead struct {
	term   Term
	trust  trust
	ctx    context.Context
	cancel context.CancelCauseFunc
	over   chan struct{} // closed when the seat was given up, or work overran
	report func()        // called when what remains of ended work changes

	handedOut atomic.Bool // somebody was told that the candidate leads, outside any function
	untold    atomic.Bool // observers have yet to hear, and to return, that the term has ended

	mu      sync.Mutex
	ended   bool
	running int    // functions that have not returned
	result  error  // of giving up the seat; set before over is closed
	heir    string // to whom it was left, kept for it or taken by it; set before over is closed
	atStop  bool   // it was given up because the candidate stopped, and is the last that it led
}

// ask answers IsLeader. The mark is set before the answer is found, so that either the end of the term sees the mark,
// and lets the drain pass, or the asker sees the end of the term.
func (l *lead) ask() bool {
	if !l.handedOut.Load() {
		if !l.trust.holds() {
			return false
		}
		l.handedOut.Store(true)
	}
	return l.trust.holds()
}

// enter registers a function that works under the term; false if the term has ended.
func (l *lead) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.running++
	return true
}

// leave says that such a function has returned.
func (l *lead) leave() {
	l.mu.Lock()
	l.running--
	ended := l.ended
	l.mu.Unlock()
	if ended {
		l.report()
	}
}

// idle says that nothing outside registered functions acts on the term any more.
func (l *lead) idle() {
	l.handedOut.Store(false)
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	if ended {
		l.report()
	}
}

// end tells everybody that the term is over: first those who ask, then those who wait.
func (l *lead) end(cause error) {
	l.trust.lost.Store(true)
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.cancel(cause)
}

// told says that every observer has returned from the news that the term has ended.
func (l *lead) told() {
	l.untold.Store(false)
	l.report()
}

// settle says that the function for which the term was won has returned, and that nothing acts on what others were told
// while it ran. A later yes counts anew.
func (l *lead) settle() {
	l.handedOut.Store(false)
	l.leave()
}

// work is what remains of the work of an ended term, and in words what its seat waits for.
func (l *lead) work() (remains protocol.Work, waitsFor string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.running > 0:
		return protocol.Running, "functions to return"
	case l.handedOut.Load():
		return protocol.HandedOut, "the drain, since IsLeader or Term had said yes"
	case l.untold.Load():
		return protocol.HandedOut, "observers to hear of the end"
	}
	return protocol.NoWork, ""
}

// finish tells those who wait that the seat was given up, or how that failed. Only the first time counts.
func (l *lead) finish(result error, heir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.finished() {
		l.result, l.heir = result, heir
		close(l.over)
	}
}

func (l *lead) finished() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// lost reports whether the term ended because its record had gone or its lease had run out: then there is no seat left
// that anybody would have to wait for.
func (l *lead) lost() bool {
	cause := context.Cause(l.ctx)
	return errors.Is(cause, ErrDeposed) || errors.Is(cause, ErrLeaseExpired)
}

// markStop notes whether the term ended, or is to end, because the candidate stopped.
func (l *lead) markStop(atStop bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.atStop = atStop
}

// atStopResult is how giving up the seat went if that was for the candidate's stop.
func (l *lead) atStopResult() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.atStop {
		return nil
	}
	return l.result
}
