package tenure

import (
	"context"
	"time"
)

// grace is for how long a call is waited for after its context has ended. A store has the more telling answer, and
// leaves nothing behind, if it returns soon as it should.
const grace = time.Second

// within makes a call and returns when it does, or after the grace if it does not heed the end of ctx.
func within[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		value, err := call()
		replies <- reply{value, err}
	}()
	select {
	case r := <-replies:
		return r.value, r.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case r := <-replies:
		return r.value, r.err
	case <-timer.C:
		var none T
		return none, ctx.Err()
	}
}

// sleep waits, and returns the context's error if that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
