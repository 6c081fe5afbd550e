package tenure

import (
	"context"
	"errors"
	"sync"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Leadership is a term won by [Candidate.Campaign]. Whoever holds it has to call Resign in the end, also after the
// term was lost: that is how the candidate learns that the work is done. Its methods are safe for concurrent use.
type Leadership struct {
	s    *stint
	l    *lead
	once sync.Once
}

// Campaign is the blocking form of [Candidate.Run], for code that cannot be turned inside out: it stands for election
// until it leads, and returns the term. ctx bounds the campaign alone; the term outlives it. If ctx ends first the
// candidate leaves the election and ctx's error is returned. Other errors are those of Run, and [ErrStopped].
func (c *Candidate) Campaign(ctx context.Context) (*Leadership, error) {
	s, err := c.begin(ctx, protocol.StandOnce)
	if err != nil {
		return nil, err
	}
	l, err := s.await(ctx)
	if err != nil {
		s.leave()
		return nil, err
	}
	return &Leadership{s: s, l: l}, nil
}

// Term returns the term.
func (l *Leadership) Term() Term { return l.l.term }

// Context returns a context that ends with the term; [context.Cause] then says why. It carries the values of
// Campaign's context.
func (l *Leadership) Context() context.Context { return l.l.ctx }

// Resign says that the work is done, ends the term if it still stands, gives the seat back and leaves the election.
// The candidate can campaign again afterwards. ctx bounds the wait as in [Candidate.Stop]. Calls after the first only
// wait.
func (l *Leadership) Resign(ctx context.Context) error {
	l.once.Do(l.l.leave)
	l.s.stop()
	if err := l.s.wait(ctx); err != nil {
		return err
	}
	if errors.Is(l.l.result, ErrOverran) {
		return ErrOverran
	}
	return nil
}
