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
	replies := begin(call)
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

// reply is what a call has returned.
type reply[T any] struct {
	value T
	err   error
}

// begin makes a call to the store on a goroutine of its own, which the call may end.
func begin[T any](call func() (T, error)) <-chan reply[T] {
	replies := make(chan reply[T], 1)
	go func() {
		r := reply[T]{err: errCallGoexit}
		defer func() { replies <- r }()
		r.value, r.err = call()
	}()
	return replies
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
