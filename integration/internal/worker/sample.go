//go:build linux

package worker

import (
	"context"
	"os"
	"runtime"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

const (
	// sampleEvery is how far apart resources and requests are written down.
	sampleEvery = time.Second
	// lookEvery is how far apart an onlooker reads.
	lookEvery = 500 * time.Millisecond
	// A process that sleeps for a nap and wakes stalled later than it wanted was kept from running.
	nap     = 10 * time.Millisecond
	stalled = 50 * time.Millisecond
)

// watchStalls writes down when the process was kept from running.
func (w *candidate) watchStalls(ctx context.Context) {
	for ctx.Err() == nil {
		due := history.Now().Add(nap)
		time.Sleep(nap)
		if now := history.Now(); now.Sub(due) > stalled {
			w.say(history.Event{Stall: &history.Stall{From: due, To: now}})
		}
	}
}

// sample writes down what the process holds and has sent.
func (w *candidate) sample(ctx context.Context) {
	for {
		wait(ctx, sampleEvery)
		if ctx.Err() != nil {
			return
		}
		if c := w.counted.Load(); c != nil {
			w.say(history.Event{Requests: c.requests()})
		}
		if w.leading.Load() {
			continue
		}
		w.say(history.Event{Resources: &history.Resources{
			Goroutines: runtime.NumGoroutine(), Descriptors: descriptors(), Terms: int(w.terms.Load()),
		}})
	}
}

func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries) - 1 // without the one that reads the directory
}

// look reads a register as an onlooker.
func (w *candidate) look(ctx context.Context) {
	for {
		wait(ctx, lookEvery)
		if ctx.Err() != nil {
			return
		}
		if _, _, err := w.register.Read(valueRegister, false, 0); err != nil {
			w.breaking.Do(func() { close(w.broken) })
			return
		}
	}
}
