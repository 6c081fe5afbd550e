package file

import (
	"context"
	"sync/atomic"
)

// parallel bounds the calls that read, and those that write, at one time. Each of them holds a thread while the disk
// works, and a disk that hangs must not use up all threads that a process may have.
const parallel = 32

// call runs work in a goroutine of its own, so that a disk that hangs holds up nobody beyond ctx. Then the error is
// that of ctx, and work, if it had begun, ends some time later.
func call[T any](ctx context.Context, slots chan struct{}, work func() T) (result T, err error) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return result, ctx.Err()
	}
	done := make(chan T, 1)
	go func() {
		defer func() { <-slots }()
		done <- work()
	}()
	select {
	case result = <-done:
		return result, nil
	case <-ctx.Done():
	}
	select {
	case result = <-done:
		return result, nil
	default:
		return result, ctx.Err()
	}
}

// decision settles between a caller that gives up and the work that it started whether the work may still take
// effect, so that a write that was given up in time is known not to happen.
type decision struct{ state atomic.Int32 }

const (
	open int32 = iota
	effective
	abandoned
)

// enact reports whether the work may take effect.
func (d *decision) enact() bool {
	return d.state.CompareAndSwap(open, effective) || d.state.Load() == effective
}

// retract opens the decision again after it turned out that the work took no effect.
func (d *decision) retract() { d.state.CompareAndSwap(effective, open) }

// abandon reports whether the work is certain to take no effect.
func (d *decision) abandon() bool { return d.state.CompareAndSwap(open, abandoned) }
