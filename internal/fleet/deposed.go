package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// Resource is what leaders write to, behind a fence.
type Resource struct {
	// Raise shuts out the tokens below one.
	Raise func(ctx context.Context, token uint64) error
	// Write writes a text on behalf of the term with the token.
	Write func(ctx context.Context, token uint64, text string) error
	// Read returns the text that was last written.
	Read func() string
}

// Deposed has a leader that is deaf to its context write to the resource after its successor did. hang makes the
// leader's store hang; the resource has to be reached all the same. It returns the tokens of both, which it checks to
// rise, and what became of the late write, of which it checks that nothing is left.
func Deposed(tb TB, leader, successor tenure.Store, hang func(), r Resource) (first, second uint64, late error) {
	tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	elected, over := make(chan uint64, 2), make(chan struct{})
	var running sync.WaitGroup
	lead := func(store tenure.Store, id string) (token uint64) {
		c, err := tenure.New(store, Election, tenure.WithID(id), tenure.WithTTL(time.Second))
		if err != nil {
			tb.Fatalf("fleet: %v", err)
		}
		running.Go(func() {
			if err := c.Run(ctx, r.work(elected, over)); ctx.Err() == nil {
				tb.Errorf("%s: Run returned %v", id, err)
			}
		})
		select {
		case token = <-elected:
		case <-time.After(patience):
			tb.Fatalf("fleet: %s does not lead", id)
		}
		return token
	}
	first = lead(leader, "deposed")
	hang()
	second = lead(successor, "successor")
	if err := r.Write(ctx, second, "of the successor"); err != nil {
		tb.Errorf("the successor's write: %v", err)
	}
	late = r.Write(ctx, first, "of the deposed")
	if got := r.Read(); got != "of the successor" || second <= first {
		tb.Errorf("token %d follows %d, and the resource holds what was written by the term %q", second, first, got)
	}
	stop()
	close(over)
	running.Wait()
	return first, second, late
}

// work raises the fence, says so, and goes on until it is over, whatever becomes of its term.
func (r Resource) work(elected chan<- uint64, over <-chan struct{}) func(context.Context, tenure.Term) error {
	return func(ctx context.Context, term tenure.Term) error {
		if err := r.Raise(ctx, term.Token); err != nil {
			return err
		}
		elected <- term.Token
		<-over
		return nil
	}
}
