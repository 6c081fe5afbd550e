package tenure_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// pipe is a log handler that can be made to block, as a full pipe does.
type pipe struct {
	full   atomic.Bool
	asks   bool // it blocks already when it is asked for its level
	closed chan struct{}

	mu    sync.Mutex
	lines []slog.Record
}

func newPipe() *pipe { return &pipe{closed: make(chan struct{})} }

func (p *pipe) block(here bool) {
	if here && p.full.Load() {
		<-p.closed
	}
}

func (p *pipe) Enabled(context.Context, slog.Level) bool { p.block(p.asks); return true }
func (p *pipe) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p *pipe) WithGroup(string) slog.Handler            { return p }
func (p *pipe) Handle(_ context.Context, r slog.Record) error {
	p.block(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, r)
	return nil
}

func (p *pipe) texts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, l := range p.lines {
		out = append(out, l.Message)
	}
	return out
}

// S4: a log handler that blocks does not keep a term's context alive while somebody else leads.
func TestS4LogThatBlocksKeepsNoTermAlive(t *testing.T) {
	for _, asks := range []bool{false, true} {
		bubble(t, func(t *testing.T, inner *memory.Store) {
			log := newPipe()
			log.asks = asks
			store := &away{Store: inner}
			a, _ := candidate(t, store, "a", tenure.WithLogger(slog.New(log)))
			leading := make(chan context.Context, 1)
			done := make(chan error)
			go func() {
				done <- a.Run(t.Context(), func(ctx context.Context, _ tenure.Term) error {
					leading <- ctx
					<-ctx.Done()
					return nil
				})
			}()
			work := <-leading
			log.full.Store(true)
			store.hangs.Store(true)
			time.Sleep(trust)
			synctest.Wait()
			if !errors.Is(context.Cause(work), tenure.ErrLeaseExpired) {
				t.Errorf("asks %v: the work goes on: %v", asks, context.Cause(work))
			}
			store.hangs.Store(false)
			close(log.closed)
			stop(t, a)
			if err := <-done; err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
}

// Work that failed after its term is logged, and the seat does not wait for that.
func TestLogThatBlocksKeepsNoSeat(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		log := newPipe()
		a, _ := candidate(t, store, "a", tenure.WithLogger(slog.New(log)))
		done := make(chan error)
		go func() {
			done <- a.Run(t.Context(), func(ctx context.Context, _ tenure.Term) error {
				<-ctx.Done()
				return errWork
			})
		}()
		synctest.Wait()
		b, _ := start(t, store, "b")
		log.full.Store(true)
		go func() { _ = a.Resign(context.Background()) }()
		synctest.Wait()
		expectLeader(t, b, a)
		close(log.closed)
		stop(t, a, b)
		<-done
		if !slices.Contains(log.texts(), "leader work failed after the end of its term") {
			t.Errorf("the log says %q", log.texts())
		}
	})
}

// A log that blocks does not silence the observers, nor do they silence the log. What is dropped is counted.
func TestLogAndObserversDoNotWaitForEachOther(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		log := newPipe()
		log.full.Store(true)
		a, d := start(t, store, "a", tenure.WithLogger(slog.New(log)))
		time.Sleep(time.Hour)
		if n := d.count(tenure.EventRenewed); n < 1000 {
			t.Errorf("%d renewals were told in an hour", n)
		}
		close(log.closed)
		synctest.Wait()
		if n := len(log.texts()); n < 256 || n > 258 {
			t.Errorf("%d lines were kept", n)
		}
		log.mu.Lock()
		var dropped int64
		for _, l := range log.lines {
			l.Attrs(func(a slog.Attr) bool {
				if a.Key == "dropped" {
					dropped = a.Value.Int64()
				}
				return true
			})
		}
		log.mu.Unlock()
		if dropped < 1000 {
			t.Errorf("%d lines were said to be dropped", dropped)
		}
		stop(t, a)
	})
}

func TestObserverThatBlocksDoesNotSilenceTheLog(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		unblock := make(chan struct{})
		log := newPipe()
		a, _ := start(t, store, "a", tenure.WithLogger(slog.New(log)), tenure.WithObserver(func(tenure.Event) { <-unblock }))
		time.Sleep(time.Hour)
		if n := len(log.texts()); n < 1000 {
			t.Errorf("%d lines were logged in an hour", n)
		}
		close(unblock)
		stop(t, a)
		if !slices.Contains(log.texts(), "an observer is too slow; events were dropped") {
			t.Error("the log does not say that events were dropped")
		}
	})
}

// Lines bear the time at which the thing happened, not that at which the handler took them.
func TestLogTellsWhenItHappened(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		log := newPipe()
		log.full.Store(true)
		began := time.Now()
		a, _ := start(t, store, "a", tenure.WithLogger(slog.New(log)))
		time.Sleep(time.Second)
		close(log.closed)
		synctest.Wait()
		for _, l := range log.lines {
			if !l.Time.Equal(began) {
				t.Errorf("%q at %v", l.Message, l.Time.Sub(began))
			}
		}
		stop(t, a)
	})
}

// An observer that ends its goroutine is called for the next event all the same; so are the observers after it.
func TestObserverThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		var told []string
		observer := func(of string) tenure.Option {
			return tenure.WithObserver(func(e tenure.Event) {
				told = append(told, of+" "+strconv.Itoa(int(e.Kind)))
				runtime.Goexit()
			})
		}
		a, d := start(t, store, "a", observer("first"), observer("second"))
		stop(t, a)
		if len(told) != 2*len(d.events) || len(told) < 8 || told[0] != "first 0" || told[1] != "second 0" {
			t.Errorf("of %d events was told: %q", len(d.events), told)
		}
	})
}
