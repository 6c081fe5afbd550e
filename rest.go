package tenure

import (
	"context"
	"fmt"
	"time"
)

// bounds is how long a stint takes to end once it was asked to, whatever the store does: the drain, the release, and a
// call that is given up only some time after its end.
func (c *Candidate) bounds() time.Duration {
	return c.config.Drain + c.config.TTL/2 + 2*c.config.CallTimeout
}

// rest returns when the stint that ends with done has ended and nothing that the candidate called runs any more; or, if
// ctx has ended, once the candidate's own bounds have passed too. The error then says what has not returned.
func (c *Candidate) rest(ctx context.Context, done <-chan struct{}) error {
	bounds, cancel := context.WithTimeout(context.Background(), c.bounds())
	defer cancel()
	for _, called := range []struct {
		what string
		rest func() <-chan struct{}
	}{
		{"a call to the store, its watch or a health check", func() <-chan struct{} { return done }},
		{"an observer", c.events.drained},
		{"the log handler", c.log.drained}, // after the observers, which are logged about
		{"a call to the store, which ignores its context", c.strays.gone},
	} {
		if !waitFor(ctx, bounds, called.rest()) {
			return fmt.Errorf("%w: %s", ErrNotReturned, called.what)
		}
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

// ended is for those who wait no longer than the bounds.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// leave stops the stint and waits until nothing of it runs. It always returns; the error says what has not.
func (s *stint) leave() error {
	s.stop()
	return s.c.rest(ended, s.done)
}

// also adds an error to the one that matters more.
func also(err, more error) error {
	switch {
	case more == nil:
		return err
	case err == nil:
		return more
	}
	return fmt.Errorf("%w; besides: %w", err, more)
}
