package tenure

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Run stands for election and calls fn, on the calling goroutine, for every term that the candidate leads. The
// context of fn carries the values of ctx and ends with the term; [context.Cause] then says why. fn has to return
// within the drain (see [WithDrain]); the seat is not given up before it has.
//
// Run returns
//   - fn's error, or nil, when fn returns while its term still stands: the work is done;
//   - ctx's error when ctx ends, after fn has returned and the seat is given back;
//   - nil when the candidate is stopped;
//   - the store's error, wrapping [ErrPermanent], when trying again is useless;
//   - [ErrRunning] or [ErrGrade] if it cannot start, [ErrConfig] if fn is nil.
//
// After a term that was lost it stands again; fn's error is then no more than logged. A panic in fn ends the term,
// gives the seat back, and goes on.
func (c *Candidate) Run(ctx context.Context, fn func(ctx context.Context, term Term) error) error {
	if fn == nil {
		return errNoWork
	}
	s, err := c.begin(ctx, protocol.Stand)
	if err != nil {
		return err
	}
	defer s.leave() // in a panic too
	for {
		l, err := s.await(ctx)
		if err != nil {
			return notStopped(err)
		}
		if finished, err := s.serve(l, fn); finished {
			return err
		}
	}
}

// errNoWork refuses a function that is nil before a seat is taken for it.
var errNoWork = fmt.Errorf("%w: the function to call while leading is nil", ErrConfig)

// leave stops the stint and waits until nothing of it runs.
func (s *stint) leave() {
	s.stop()
	<-s.done
	<-s.c.events.drained()
}

// await waits for a term that can be led.
func (s *stint) await(ctx context.Context) (*lead, error) {
	for {
		if l := s.c.current.Load(); l != nil && l.enter() {
			return l, nil
		}
		if err := s.gaveUp(); err != nil {
			return nil, err
		}
		select {
		case <-s.news:
		case <-s.done:
			return nil, stoppedOr(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// stoppedOr tells a stint that ended with its context from one that was stopped.
func stoppedOr(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrStopped
}

func notStopped(err error) error {
	if errors.Is(err, ErrStopped) {
		return nil
	}
	return err
}

func (s *stint) gaveUp() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.permanent
}

// serve calls fn for a term. It reports whether the work is done, which is so if fn returned while the term stood.
func (s *stint) serve(l *lead, fn func(context.Context, Term) error) (finished bool, err error) {
	defer l.leave()
	err = fn(l.ctx, l.term)
	if l.ctx.Err() == nil {
		return true, err
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.c.config.logger.Warn("leader work failed after the end of its term", "token", l.term.Token, "error", err)
	}
	return false, nil
}
