package tenuretest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tenure-go/tenure"
)

// ErrLost is what a caller is told whose request or reply was lost. To a swap it means an unknown outcome.
var ErrLost = errors.New("tenuretest: lost on the way")

// UntilHealed is a delay that lasts until the fault is healed.
const UntilHealed time.Duration = math.MaxInt64

// Fault is one thing that goes wrong between a client and its store. It applies to all calls that it is about until
// it is healed; On, Times and For narrow that. A Fault is a value: it can be kept, and injected any number of times.
type Fault struct {
	ops          Op
	times        int // zero: any number
	lasts        time.Duration
	act          action
	deliveries   fate
	interruption error
}

// action decides what becomes of a call about an election. next passes it on towards the store.
type action func(ctx context.Context, in *injection, election string, next exchange) (result any, err error)

// exchange is one call as its caller sees it: a request that is answered by the method's result or by an error.
type exchange func(context.Context) (result any, err error)

// fate is what becomes of a delivery.
type fate uint8

const (
	passed fate = iota
	held        // the last one is delivered when the fault is healed
	lost
)

// On returns the fault for the given methods only. It narrows: to a method that a fault is not about, such as a swap
// to [Stale], nothing happens.
func (f Fault) On(ops Op) Fault {
	f.ops &= ops
	return f
}

// Times returns the fault for the next n calls only, at least one. For [Silence] it counts deliveries; [Freeze] counts
// only calls, and [Interrupt] is not limited by it.
func (f Fault) Times(n int) Fault {
	f.times = max(n, 1)
	return f
}

// For returns the fault healing by itself when d has passed since its injection.
func (f Fault) For(d time.Duration) Fault {
	f.lasts = d
	return f
}

// LoseRequest loses calls on their way to the store, which never sees them. The caller gets [ErrLost] at once; for one
// that hears nothing until its context ends, see [Freeze].
func LoseRequest() Fault { return Fail(ErrLost) }

// LoseReply carries calls out and loses the results, errors among them. The caller gets [ErrLost].
func LoseReply() Fault { return Fault{ops: OpAll, act: loseReply} }

// DelayRequest keeps calls back on their way to the store for d, [UntilHealed] at most. Then they are carried out, even
// if the caller's context has ended and the caller is long gone. Later calls overtake them.
func DelayRequest(d time.Duration) Fault {
	return Fault{ops: OpAll, act: func(ctx context.Context, in *injection, _ string, next exchange) (any, error) {
		return sendLate(ctx, func(ctx context.Context) (any, error) {
			in.elapse(context.Background(), d)
			return next(ctx)
		})
	}}
}

// DelayReply carries calls out at once and keeps the results back for d, [UntilHealed] at most. A caller whose context
// ends meanwhile gets the context's error.
func DelayReply(d time.Duration) Fault {
	return Fault{ops: OpAll, act: func(ctx context.Context, in *injection, _ string, next exchange) (any, error) {
		result, err := next(ctx)
		if in.elapse(ctx, d) {
			return result, err
		}
		discard(result)
		return nil, fmt.Errorf("tenuretest: the reply is late: %w", ctx.Err())
	}}
}

// Repeat carries swaps out twice, as a client library does that sends a request again for want of a reply. The caller
// gets the second result: [tenure.ErrConflict] if the first swap was accepted.
func Repeat() Fault { return Fault{ops: OpSwap, act: repeat} }

// Fail refuses calls with err, as it is, before they reach the store: an outage with any error; bad credentials with
// that of [tenure.Permanent]; throttling with that of [tenure.NotApplied], which says how long to wait.
func Fail(err error) Fault {
	return Fault{ops: OpAll, act: func(context.Context, *injection, string, exchange) (any, error) { return nil, err }}
}

// Freeze stops the store: calls hang and watches deliver nothing. When it is healed, the calls go on and each watch
// delivers the last of what it missed. A call whose context ends before is not carried out.
func Freeze() Fault { return Fault{ops: OpAll, act: freeze, deliveries: held} }

// Stale has a replica answer Load that stopped following when the fault was injected: with the last state of the
// election that had passed through this [Faulty] before, in any call or delivery; if none had, with what the first
// Load finds. Swaps go to the store.
func Stale() Fault { return Fault{ops: OpLoad, act: stale} }

// Silence stops watches without a word. What they would have delivered is lost; when it is healed they deliver what
// changes from then on.
func Silence() Fault { return Fault{ops: OpWatch, deliveries: lost} }

// Interrupt has each running watch deliver err, and nothing more until it is healed. Then each delivers the current
// state. A watch that begins meanwhile delivers nothing until then either; to refuse it, add [Fail] on [OpWatch].
func Interrupt(err error) Fault { return Fault{ops: OpWatch, deliveries: held, interruption: err} }

func loseReply(ctx context.Context, _ *injection, _ string, next exchange) (any, error) {
	result, _ := next(ctx)
	discard(result)
	return nil, ErrLost
}

func repeat(ctx context.Context, _ *injection, _ string, next exchange) (any, error) {
	_, _ = next(ctx)
	return next(ctx)
}

func freeze(ctx context.Context, in *injection, _ string, next exchange) (any, error) {
	if !in.elapse(ctx, UntilHealed) {
		return nil, fmt.Errorf("tenuretest: the store is frozen: %w", ctx.Err())
	}
	return next(ctx)
}

func stale(ctx context.Context, in *injection, election string, next exchange) (any, error) {
	if past, ok := in.past.last(election); ok {
		return past, nil
	}
	result, err := next(ctx)
	if now, ok := result.(tenure.Snapshot); ok && err == nil {
		in.past.see(election, now)
	}
	return result, err
}

// sendLate has send outlive the caller, if need be.
func sendLate(ctx context.Context, send exchange) (any, error) {
	type reply struct {
		result any
		err    error
	}
	arrived := make(chan reply)
	go func() {
		result, err := send(context.WithoutCancel(ctx))
		select {
		case arrived <- reply{result, err}:
		case <-ctx.Done():
			discard(result)
		}
	}()
	select {
	case r := <-arrived:
		return r.result, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("tenuretest: the request is late: %w", ctx.Err())
	}
}

// discard ends what a call has begun whose result nobody gets.
func discard(result any) {
	if stop, ok := result.(func()); ok {
		stop()
	}
}
