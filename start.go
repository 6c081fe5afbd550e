package tenure

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Start stands for election in the background until [Candidate.Stop] is called or ctx ends, which has the same
// effect. Ask IsLeader, Term and RunIfLeader, or observe events: an observer that acts on [EventElected] has to stop
// before it returns from [EventEnded] (see [WithObserver]). It returns at once; the error is [ErrRunning] or
// [ErrGrade]. Failures of the store, permanent ones too, are retried for as long as it takes.
func (c *Candidate) Start(ctx context.Context) error {
	_, err := c.begin(ctx, protocol.Stand)
	return err
}

// Stop ends the term if there is one, waits for leader work to return and the rest of the drain where leadership was
// handed out, gives the seat back (see [WithReleaseOnStop]) and leaves the election. It returns nil if the candidate
// has never run. After a candidacy that has ended already it tells how that went.
//
// When Stop returns nil nothing of the candidate runs any more: no goroutine, no callback, no leader work, even if the
// candidacy had ended by itself before. If leader work has not returned within the drain it returns [ErrOverran]
// without waiting further; if the store did not confirm the release in time, [ErrNotReleased]. Drain and release have
// bounds of their own, together drain + TTL/2 and two calls' timeouts, and are not cut short when ctx ends, not even by
// one that has ended already: a seat that is not given back costs everybody a whole TTL. ctx bounds the wait for what
// hangs beyond them: a store that ignores the context of a call, a health check, an observer, a log handler. The error
// is then [ErrNotReturned] and ctx's.
//
// Leader work that calls Stop has to give its own context, or one made from it. Stop then returns nil at once, without
// waiting: the work is what it would wait for.
func (c *Candidate) Stop(ctx context.Context) error {
	done := (<-chan struct{})(closed)
	if s := c.present(); s != nil {
		s.stop()
		done = s.done
	}
	if c.works(ctx) {
		return nil
	}
	if err := c.rest(ctx, done); err != nil {
		return fmt.Errorf("%w: %w", err, ctx.Err())
	}
	l := c.current.Load()
	if l == nil {
		return nil
	}
	if remains, _ := l.work(); remains == protocol.Running {
		return ErrOverran
	}
	return c.asAsked(l.atStopResult())
}

// asAsked is how a seat was given up by a candidate that was stopped, which may be set not to give it back.
func (c *Candidate) asAsked(result error) error {
	if !c.config.Release && errors.Is(result, ErrNotReleased) {
		return nil
	}
	return result
}

// present returns the stint under way, nil if there is none.
func (c *Candidate) present() *stint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stint
}

// TryAcquire bids once if the seat is free, and reports whether the candidate leads now. A term that it wins is
// renewed in the background until Resign or Stop; after its end the candidate does not stand again. A seat whose
// leader has died looks held until it was seen unchanged for the leader's TTL, over several calls if need be. It waits
// for the first verdict of the health check, if there is one, and takes a seat that the candidate itself has just
// resigned.
//
// ctx bounds the wait: when it ends the attempt is withdrawn and its error returned. While the candidate runs already
// nothing is sent, and the answer is that of IsLeader. A failure of the store is returned as it is.
func (c *Candidate) TryAcquire(ctx context.Context) (won bool, err error) {
	s, err := c.begin(ctx, protocol.Try)
	if errors.Is(err, ErrRunning) {
		return c.IsLeader(), nil
	}
	if err != nil {
		return false, err
	}
	for {
		if c.IsLeader() {
			return true, nil
		}
		select {
		case <-s.news:
		case <-s.done:
			return false, s.failure()
		case <-ctx.Done():
			return false, also(ctx.Err(), s.leave())
		}
	}
}

// failure is the last error of a call within the stint.
func (s *stint) failure() error {
	s.c.mu.Lock()
	err := s.lastError
	s.c.mu.Unlock()
	if errors.Is(err, ErrConflict) { // not under the lock: errors may have code of their own
		return nil
	}
	return err
}
