package tenure

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Resign ends the term, waits for leader work and the drain as [Candidate.Stop] does, and gives the seat back. A
// candidate that runs by Run or Start stands again once somebody else has led, or its TTL has passed.
//
// ctx bounds the wait alone: once begun, a resignation is carried through. Leader work must not call Resign with a
// context other than its own, since it would wait for itself. Errors: [ErrNotLeader], [ErrOverran], ctx's.
func (c *Candidate) Resign(ctx context.Context) error { return c.resign(ctx, "") }

// TransferTo resigns as [Candidate.Resign] does and keeps the vacant seat for the candidate with this ID, which takes
// it at once if it stands; others wait for one TTL after they saw the vacancy.
func (c *Candidate) TransferTo(ctx context.Context, id string) error {
	if err := checkName("candidate", id); err != nil {
		return err
	}
	if id == c.config.ID {
		return fmt.Errorf("%w: a seat cannot be transferred to its own leader, %q", ErrConfig, id)
	}
	return c.resign(ctx, id)
}

func (c *Candidate) resign(ctx context.Context, to string) error {
	l := c.current.Load()
	if l == nil || !l.trust.holds() {
		return ErrNotLeader
	}
	c.inbox.post(message{input: protocol.Input{Kind: protocol.Resign, To: to}})
	select {
	case <-l.over:
		return l.result
	case <-ctx.Done():
		return ctx.Err()
	}
}
