//go:build linux

package worker

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/register"
)

// askEvery is how far apart a leader asks whether it leads.
const askEvery = time.Millisecond

// slow is the rate of a SlowClock.
const slow = 0.4

// lead is the work of a term.
func (w *candidate) lead(ctx context.Context, term tenure.Term) error {
	w.terms.Add(1)
	w.leading.Store(true)
	defer w.leading.Store(false)
	w.say(history.Event{Elected: &history.Elected{Token: term.Token, Session: w.session}})
	if w.unsafe(SlowClock) {
		w.clock.run(slow)
		defer w.clock.run(1)
	}
	leads, acting := term.Valid, ctx
	if w.unsafe(ActWithoutAsking) {
		var cancel context.CancelFunc
		acting, cancel = outlasting(ctx, 2*w.TTL)
		defer cancel()
		leads = func() bool { return acting.Err() == nil }
	}
	over, stop := context.WithCancel(context.WithoutCancel(ctx))
	var asking sync.WaitGroup
	asking.Go(func() { w.ask(over, term.Token, leads) })
	work(acting, w.register, term.Token, leads)
	<-acting.Done()
	// It has returned from its work, and asks on for a moment: the answer has to stay no.
	stop()
	asking.Wait()
	if w.unsafe(Leak) {
		leak()
	}
	ended := &history.Ended{Token: term.Token, Session: w.session}
	if cause := context.Cause(ctx); cause != nil {
		ended.Cause = cause.Error()
	}
	w.say(history.Event{Ended: ended})
	return nil
}

// outlasting returns a context that ends later than ctx.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return longer, func() { stop(); cancel() }
}

// ask writes down through which spans the term is trusted.
func (w *candidate) ask(over context.Context, token uint64, leads func() bool) {
	trusted := history.NewTrusted(w.history)
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for over.Err() == nil {
		if _, err := trusted.Ask(token, w.session, leads); err != nil {
			w.breaking.Do(func() { close(w.broken) })
			return
		}
		<-tick.C
	}
	if err := trusted.Flush(); err != nil {
		w.breaking.Do(func() { close(w.broken) })
	}
}

// The registers that leaders change.
const (
	counterRegister = "counter"
	valueRegister   = "value"
)

// work changes the registers until the term ends. It asks before it begins a change, and not again before it sends the
// last part of it, as programs do: what comes too late for that only the fence can refuse.
func work(ctx context.Context, r *register.Client, token uint64, leads func() bool) {
	for ctx.Err() == nil && leads() {
		value, outcome, err := r.Read(counterRegister, true, token)
		if err != nil {
			return
		}
		think()
		if outcome == history.OK {
			if _, err := r.Write(counterRegister, true, token, value+1); err != nil {
				return
			}
		}
		if _, err := r.Write(valueRegister, false, token, int64(history.Now())); err != nil {
			return
		}
		wait(ctx, time.Duration(10+rand.IntN(40))*time.Millisecond)
	}
}

// think is what a program does between reading something and writing what follows from it.
func think() { time.Sleep(time.Duration(10+rand.IntN(70)) * time.Millisecond) }

// leak leaves some goroutines and open files behind.
func leak() {
	for range 2 * afterwards {
		file, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		go func() {
			time.Sleep(time.Hour)
			_ = file.Close()
		}()
	}
}
