package tenure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Run stands for election and calls fn, on the calling goroutine, for every term that the candidate leads. The
// context of fn carries the values of ctx and ends with the term; [context.Cause] then says why. fn has to return
// within the drain (see [WithDrain]); the seat is not given up before it has.
//
// Run returns
//   - fn's error, or nil, when fn returns while its term still stands, so that [Term.Valid] would say yes: the work is
//     done;
//   - ctx's error when ctx ends, after fn has returned and the seat is given back;
//   - nil when the candidate is stopped;
//   - the store's error, wrapping [ErrPermanent], when trying again is useless;
//   - [ErrRunning] or [ErrGrade] if it cannot start, [ErrConfig] if fn is nil.
//
// It waits until nothing of the candidate runs any more, but no longer than [Candidate.Stop] would with a context that
// has ended. If something hangs beyond that, [ErrNotReturned] is added to whatever it returns.
//
// fn's return says that nothing in this process acts under the term any more, so that the seat is given up at once even
// if IsLeader or Term has said yes meanwhile. Whatever else acts on their answers fn has to wait for; or it is called
// by RunIfLeader, which is waited for.
//
// After a term that was lost it stands again; fn's error is then no more than logged. A panic in fn ends the term,
// gives the seat back, and goes on.
func (c *Candidate) Run(ctx context.Context, fn func(ctx context.Context, term Term) error) (err error) {
	if fn == nil {
		return errNoWork
	}
	s, err := c.begin(ctx, protocol.Stand)
	if err != nil {
		return err
	}
	defer func() { err = also(err, s.leave()) }() // in a panic too
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

// await waits for a term that can be led.
func (s *stint) await(ctx context.Context) (*lead, error) {
	for {
		if l := s.c.current.Load(); l != nil && l.trust.holds() && l.enter() {
			return l, nil
		}
		if err := s.gaveUp(); err != nil {
			return nil, err
		}
		select {
		case <-s.news:
		case <-s.done:
			return nil, s.whyDone(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// errLost is the end of a stint that was to lead once, and whose term was lost before anybody took it up.
var errLost = errors.New("tenure: the term was lost before it was handed over")

// whyDone tells a stint that ended with its context from one that was stopped.
func (s *stint) whyDone(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if !s.stopping {
		return errLost
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
	stood, err := s.c.do(l, fn)
	if stood {
		return true, err
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.c.log.write(slog.LevelWarn, "leader work failed after the end of its term", "token", l.term.Token, "error", err)
	}
	return false, nil
}

// do calls fn, and reports whether the term stood when it returned. That is for the clock to say: fn may have found the
// term over by asking, before the context has ended.
func (c *Candidate) do(l *lead, fn func(context.Context, Term) error) (stood bool, err error) {
	defer l.settle()
	ctx, duty := c.onDuty(l.ctx)
	defer duty.end()
	err = fn(ctx, l.term)
	return l.trust.holds(), err
}
