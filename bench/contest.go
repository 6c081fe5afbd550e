package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
)

// contest is an election with its candidates.
type contest struct {
	trace      *trace
	polled     bool
	candidates []*tenure.Candidate
	stores     []Store
	terms      chan begun // every term, as it begins
	worked     atomic.Pointer[worked]
	cancel     context.CancelFunc
	running    sync.WaitGroup
}

// defaultPoll is how often candidates poll at default settings.
const defaultPoll = tenure.DefaultTTL / 5

// begun is the start of a term.
type begun struct {
	candidate int
	at        time.Time
}

// worked is the end of a leader's work.
type worked struct {
	at    time.Time
	cause error
}

// patience is how long a contest may take to have a leader, beyond what leases and polls allow.
const patience = time.Minute

// standing has candidates stand for an election. They share the stores of as many processes.
func (r *rig) standing(
	ctx context.Context, election string, candidates, processes int, options ...tenure.Option,
) (*contest, error) {
	running, cancel := context.WithCancel(ctx)
	c := &contest{trace: newTrace(), polled: !r.pushes, terms: make(chan begun, candidates), cancel: cancel}
	for range min(candidates, processes) {
		store, err := r.server.Open(ctx)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.stores = append(c.stores, store)
	}
	for i := range candidates {
		store := traced(c.stores[i%len(c.stores)], c.trace, i)
		candidate, err := tenure.New(store, election, append(options, tenure.WithID(fmt.Sprint("node-", i)))...)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.candidates = append(c.candidates, candidate)
		c.running.Go(func() {
			if c.polled && wait(running, rand.N(defaultPoll)) != nil { // or all would poll at the same moment
				return
			}
			_ = candidate.Run(running, func(term context.Context, _ tenure.Term) error { return c.lead(term, i) })
		})
	}
	return c, nil
}

// lead is the work of a leader: it notes when it begins and when it ends.
func (c *contest) lead(term context.Context, candidate int) error {
	c.terms <- begun{candidate, time.Now()}
	<-term.Done()
	c.worked.Store(&worked{time.Now(), context.Cause(term)})
	return nil
}

// gather waits until every candidate stands.
func (c *contest) gather(ctx context.Context) error {
	if c.polled {
		if err := wait(ctx, defaultPoll); err != nil {
			return err
		}
	}
	return c.settle(ctx)
}

// settle waits until the candidates are at rest, so that one hand-over does not disturb the next.
func (c *contest) settle(ctx context.Context) error {
	calm := 2*time.Millisecond + time.Duration(len(c.candidates))*20*time.Microsecond
	if c.polled {
		return c.trace.settle(ctx, calm, 50*calm)
	}
	return c.trace.settle(ctx, calm, patience)
}

// next waits for the next term.
func (c *contest) next(ctx context.Context, within time.Duration) (begun, error) {
	select {
	case b := <-c.terms:
		return b, nil
	case <-ctx.Done():
		return begun{}, ctx.Err()
	case <-time.After(within + patience):
		return begun{}, fmt.Errorf("nobody led within %v", within+patience)
	}
}

// lostError says that a term ended by itself.
type lostError struct{ cause error }

func (e *lostError) Error() string { return fmt.Sprintf("the term ended by itself: %v", e.cause) }

// handOver has the leader resign, and waits for the next term. It returns how long nobody worked. The error is a
// lostError, beside the next term, if the leader's had ended before it could resign.
func (c *contest) handOver(ctx context.Context, leader int) (begun, time.Duration, error) {
	c.trace.reset()
	resigned := make(chan error, 1)
	go func() { resigned <- c.candidates[leader].Resign(ctx) }()
	next, err := c.next(ctx, tenure.DefaultTTL)
	if err != nil {
		return next, 0, err
	}
	end := c.worked.Load()
	switch err := <-resigned; {
	case errors.Is(err, tenure.ErrNotLeader):
		return next, 0, &lostError{end.cause}
	case err != nil:
		return next, 0, fmt.Errorf("resigning: %w", err)
	}
	return next, next.at.Sub(end.at), nil
}

// close ends the candidates and then their stores.
func (c *contest) close() error {
	c.cancel()
	c.running.Wait()
	var errs []error
	for _, store := range c.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}
