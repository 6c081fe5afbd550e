package tenure

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Start stands for election in the background until [Candidate.Stop] is called or ctx ends, which has the same
// effect. Ask IsLeader, Term and RunIfLeader, or observe events. It returns at once; the error is [ErrRunning] or
// [ErrGrade]. Failures of the store, permanent ones too, are retried for as long as it takes.
func (c *Candidate) Start(ctx context.Context) error {
	_, err := c.begin(ctx, protocol.Stand)
	return err
}

// Stop ends the term if there is one, waits for leader work to return and the rest of the drain where leadership was
// handed out, gives the seat back (see [WithReleaseOnStop]) and leaves the election. It returns nil if the candidate
// does not run.
//
// When Stop returns nothing of the candidate runs any more: no goroutine, no callback. If leader work has not
// returned within the drain it returns [ErrOverran] without waiting further. Drain and release have bounds of their
// own, together drain + TTL/2 and one call's timeout, and are not cut short when ctx ends, not even by one that has
// ended already: a seat that is not given back costs everybody a whole TTL. ctx bounds the wait for a store or an
// observer that hangs.
func (c *Candidate) Stop(ctx context.Context) error {
	s := c.present()
	if s == nil {
		return nil
	}
	s.stop()
	if err := s.wait(ctx); err != nil {
		return err
	}
	if l := c.current.Load(); l != nil && l.work() == protocol.Running {
		return ErrOverran
	}
	return nil
}

// wait returns when the stint has ended and its last event was told; or, if ctx has ended, once the stint's own bounds
// have passed too.
func (s *stint) wait(ctx context.Context) error {
	config := s.c.config
	bounds, cancel := context.WithTimeout(context.Background(), config.Drain+config.TTL/2+2*config.CallTimeout)
	defer cancel()
	if !waitFor(ctx, bounds, s.done) {
		return fmt.Errorf("tenure: a call to the store or a health check has not returned: %w", ctx.Err())
	}
	if !waitFor(ctx, bounds, s.c.events.drained()) {
		return fmt.Errorf("tenure: an observer has not returned: %w", ctx.Err())
	}
	return nil
}

// waitFor waits for done, until both contexts have ended.
func waitFor(ctx, bounds context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-bounds.Done():
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// present returns the stint under way, nil if there is none.
func (c *Candidate) present() *stint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stint
}

// TryAcquire bids once if the seat is free, and reports whether the candidate leads now. A term that it wins is
// renewed in the background until Resign or Stop; after its end the candidate does not stand again. A seat whose
// leader has died looks held until it was seen unchanged for the leader's TTL, over several calls if need be.
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
			s.leave()
			return false, ctx.Err()
		}
	}
}

// failure is the last error of a call within the stint.
func (s *stint) failure() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if errors.Is(s.lastError, ErrConflict) {
		return nil
	}
	return s.lastError
}
