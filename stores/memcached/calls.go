package memcached

import (
	"context"
	"errors"
	"sync"

	"github.com/tenure-go/tenure"
)

var errClosed = tenure.Permanent(errors.New("the store is closed"))

// calls are the requests that are under way. The client takes no context, so each runs in a goroutine of its own, for
// as long as the client's timeout at most.
type calls struct {
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func (c *calls) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.running.Add(1)
	return nil
}

// close lets no other call begin, and waits for those under way.
func (c *calls) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.running.Wait()
}

// do makes a request and returns early, with the error of ctx, if that ends first.
func do[T any](ctx context.Context, c *calls, request func() (T, error)) (result T, err error) {
	if err := ctx.Err(); err != nil {
		return result, tenure.NotApplied(err, 0)
	}
	if err := c.begin(); err != nil {
		return result, err
	}
	done := make(chan struct{})
	var reply T
	var failure error
	go func() {
		defer c.running.Done()
		defer close(done)
		reply, failure = request()
	}()
	select {
	case <-done:
		return reply, failure
	case <-ctx.Done():
		return result, ctx.Err()
	}
}
