package tenure

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Leadership is a term won by [Candidate.Campaign]. Whoever holds it has to call Resign in the end, also after the
// term was lost: that is how the candidate learns that the work is done, and that nothing in this process acts under
// the term any more. Its methods are safe for concurrent use.
type Leadership struct {
	s    *stint
	l    *lead
	ctx  context.Context
	duty *duty
	once sync.Once
}

// Campaign is the blocking form of [Candidate.Run], for code that cannot be turned inside out: it stands for election
// until it leads, and returns the term. ctx bounds the campaign alone; the term outlives it. If ctx ends first the
// candidate leaves the election and ctx's error is returned. Other errors are those of Run, and [ErrStopped].
func (c *Candidate) Campaign(ctx context.Context) (*Leadership, error) {
	for {
		l, err := c.campaign(ctx)
		if !errors.Is(err, errLost) || errors.Is(err, ErrNotReturned) {
			return l, err
		}
	}
}

func (c *Candidate) campaign(ctx context.Context) (*Leadership, error) {
	s, err := c.begin(ctx, protocol.StandOnce)
	if err != nil {
		return nil, err
	}
	l, err := s.await(ctx)
	if err != nil {
		return nil, also(err, s.leave())
	}
	work, duty := c.onDuty(l.ctx)
	return &Leadership{s: s, l: l, ctx: work, duty: duty}, nil
}

// Term returns the term.
func (l *Leadership) Term() Term { return l.l.term }

// Context returns a context that ends with the term; [context.Cause] then says why. It carries the values of
// Campaign's context.
func (l *Leadership) Context() context.Context { return l.ctx }

// Resign says that the work is done, with all that acts on an answer of [Candidate.IsLeader] or [Candidate.Term] and
// was not called by [Candidate.RunIfLeader]. It ends the term if it still stands, gives the seat back and leaves the
// election. The candidate can campaign again afterwards. Calls after the first only wait.
//
// Errors are those of [Candidate.Stop], whose bounds it has: ctx bounds the wait for what hangs beyond them. With the
// context of a function that [Candidate.RunIfLeader] has called it returns nil at once; with that of the Leadership
// itself it waits, since the work is done.
func (l *Leadership) Resign(ctx context.Context) error {
	l.once.Do(l.over)
	l.s.stop()
	if l.s.c.works(ctx) {
		return nil
	}
	if err := l.s.c.rest(ctx, l.s.done); err != nil {
		return fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return l.s.c.asAsked(l.l.result)
}

func (l *Leadership) over() {
	l.duty.end()
	l.l.settle()
}
