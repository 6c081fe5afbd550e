package tenure

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Resign ends the term, waits for leader work and the drain as [Candidate.Stop] does, and gives the seat back. A
// candidate that runs by Run or Start stands again once somebody else has led, or its TTL has passed.
//
// ctx bounds the wait alone: once begun, a resignation is carried through. Leader work that calls Resign has to give
// its own context, or one made from it. Resign then returns nil at once, without waiting: the work is what it would
// wait for. Errors: [ErrNotLeader], [ErrOverran], [ErrNotReleased], ctx's. It returns nil if the term was lost to
// somebody else meanwhile.
func (c *Candidate) Resign(ctx context.Context) error {
	l, err := c.resign(ctx, "")
	if err != nil || l == nil {
		return err
	}
	return l.result
}

// TransferTo resigns as [Candidate.Resign] does and keeps the vacant seat for the candidate with this ID, which takes
// it at once if it stands; others wait for one TTL after they saw the vacancy. It returns nil only if the seat was left
// in this way, or that candidate was seen to have it; [ErrNotTransferred] if the term ended otherwise, because another
// resignation was faster, say, or work overran. Errors are otherwise those of Resign, and [ErrConfig].
func (c *Candidate) TransferTo(ctx context.Context, id string) error {
	if err := checkName("candidate", id); err != nil {
		return err
	}
	if id == c.config.ID {
		return fmt.Errorf("%w: a seat cannot be transferred to its own leader, %q", ErrConfig, id)
	}
	l, err := c.resign(ctx, id)
	switch {
	case err != nil || l == nil:
		return err
	case l.result != nil:
		return fmt.Errorf("%w: %w", ErrNotTransferred, l.result)
	case l.heir != id:
		return ErrNotTransferred
	}
	return nil
}

// resign returns the term that was resigned once its seat was given up, nil if it is not to be waited for.
func (c *Candidate) resign(ctx context.Context, to string) (*lead, error) {
	l := c.current.Load()
	if l == nil || !l.trust.holds() {
		return nil, ErrNotLeader
	}
	within := c.works(ctx)
	c.inbox.post(message{input: protocol.Input{Kind: protocol.Resign, Token: l.term.Token, To: to}})
	if within {
		return nil, nil
	}
	select {
	case <-l.over:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
