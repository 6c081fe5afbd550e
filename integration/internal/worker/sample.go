//go:build linux

package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
		files, sockets := descriptors()
		w.say(history.Event{Resources: &history.Resources{
			Goroutines: runtime.NumGoroutine(), Descriptors: files, Sockets: sockets, Terms: int(w.terms.Load()),
		}})
	}
}

// descriptors counts open files, and sockets besides. Sockets come and go with the pools of clients, which keep dead
// ones until they need one: whether any is left behind shows when the store is closed.
func descriptors() (files, sockets int) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0
	}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		switch {
		case err != nil: // the one that read the directory
		case strings.HasPrefix(to, "socket:"):
			sockets++
		default:
			files++
		}
	}
	return files, sockets
}

// holding is what a process holds.
type holding struct{ goroutines, descriptors int }

func held() holding {
	files, sockets := descriptors()
	return holding{runtime.NumGoroutine(), files + sockets}
}

const (
	// afterwards is how many goroutines and descriptors of the runtime, the history and the taker of orders may have come
	// since the beginning.
	afterwards = 4
	// goneWithin is how long what was closed may take to be gone.
	goneWithin = 5 * time.Second
)

// leftBehind returns an error if more is held than before the store was opened, now that it is closed.
func leftBehind(before holding) error {
	var now holding
	for end := time.Now().Add(goneWithin); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		now = held()
		if now.goroutines <= before.goroutines+afterwards && now.descriptors <= before.descriptors+afterwards {
			return nil
		}
	}
	stacks := make([]byte, 64<<10)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return fmt.Errorf("%d goroutines and %d open files, %d and %d before the store was opened:\n%s",
		now.goroutines, now.descriptors, before.goroutines, before.descriptors, stacks)
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
