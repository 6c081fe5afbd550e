//go:build linux

package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/register"
)

// candidate is a process of the library.
type candidate struct {
	*Config

	history  *history.Writer
	register *register.Client
	session  string
	clock    *clock // nil: the system's
	log      *slog.Logger
	terms    atomic.Int64
	leading  atomic.Bool
	before   holding       // before the store was opened
	broken   chan struct{} // closed when the history cannot be written
	breaking sync.Once

	store   atomic.Pointer[Opened]
	counted atomic.Pointer[counted]
	failed  chan struct{} // of GiveUp: closed at the first failure
	failing sync.Once
}

// runCandidate stands for election until the process is told to end.
func runCandidate(c *Config) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	w, err := newCandidate(c)
	if err != nil {
		return err
	}
	defer func() { err = w.exit(err) }()
	w.before = held()
	w.start(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-w.broken:
			cancel() // what is not written down must not be done
		case <-ctx.Done():
		}
	}()
	var beside sync.WaitGroup
	for _, task := range []func(context.Context){w.watchStalls, w.sample, w.look} {
		beside.Go(func() { task(ctx) })
	}
	go w.obey(os.Stdin, os.Stdout) // it ends with the process
	err = w.stand(ctx)
	beside.Wait()
	return err
}

func newCandidate(c *Config) (*candidate, error) {
	h, err := history.Create(c.Dir, c.Name, c.Life)
	if err != nil {
		return nil, err
	}
	w := &candidate{
		Config: c, history: h, register: register.NewClient(c.Register, c.Name, h),
		session: fmt.Sprintf("%s.%d", c.Name, c.Life), broken: make(chan struct{}), failed: make(chan struct{}),
	}
	if c.Rate != 0 {
		w.clock = newClock(c.Rate)
	}
	file, err := os.Create(filepath.Join(c.Dir, w.session+".log"))
	if err != nil {
		return nil, err
	}
	w.log = slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return w, nil
}

// say writes an event. Without a history nothing may go on.
func (w *candidate) say(e history.Event) {
	if err := w.history.Write(e); err != nil {
		w.breaking.Do(func() { close(w.broken) })
	}
}

// start opens the store and says that this life has begun.
func (w *candidate) start(ctx context.Context) {
	begin := &history.Start{
		PID: os.Getpid(), Store: w.Store, Kind: "library", Session: w.session, TTL: w.TTL,
		Options: map[string]string{"clock rate": strconv.FormatFloat(w.Rate, 'f', 5, 64)},
	}
	store := w.open(ctx)
	if store == nil {
		w.say(history.Event{Start: begin})
		return
	}
	w.store.Store(store)
	if asked, ok := store.Store.(tenure.Guarantor); ok && w.AskGrade {
		asking, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if g, err := asked.Guarantee(asking); err == nil {
			begin.Grade, begin.Reasons = g.Grade.String(), g.Reasons
		}
	}
	w.say(history.Event{Start: begin})
}

// open tries until the server is there; it returns nil if the process is told to end before.
func (w *candidate) open(ctx context.Context) *Opened {
	for {
		trying, cancel := context.WithTimeout(ctx, 5*time.Second)
		store, err := Open(trying, w.URL)
		cancel()
		if err == nil {
			return store
		}
		w.log.Warn("the store cannot be opened", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// stand runs a candidate, and another one when a store has failed for good, as a supervisor would.
func (w *candidate) stand(ctx context.Context) error {
	store := w.store.Load()
	if store == nil {
		return nil
	}
	c, err := tenure.New(w.wrapped(store), w.Election, w.options()...)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := c.Run(ctx, w.lead)
		switch {
		case ctx.Err() != nil:
		case !errors.Is(err, tenure.ErrPermanent):
			return fmt.Errorf("running: %w", err)
		case w.unsafe(GiveUp):
			<-ctx.Done()
		default:
			w.log.Warn("standing again", "error", err)
			wait(ctx, 200*time.Millisecond)
		}
	}
	return nil
}

// wrapped returns the store with the protections off that are to be off, and counted.
func (w *candidate) wrapped(store *Opened) tenure.Store {
	var base, pushes tenure.Store = store.Store, store.Store
	if w.unsafe(BlindSwap) {
		base, pushes = blind{base}, nil
	}
	requests, used := count(base, pushes)
	w.counted.Store(requests)
	if w.unsafe(Storm) {
		return storm{used}
	}
	return used
}

func (w *candidate) options() []tenure.Option {
	options := []tenure.Option{tenure.WithID(w.Name), tenure.WithTTL(w.TTL), tenure.WithLogger(w.log)}
	if w.clock != nil {
		options = append(options, tenure.WithClock(w.clock.read))
	}
	if w.unsafe(GiveUp) {
		// It takes the first failure for the end, and gets well only when started anew.
		options = append(options, tenure.WithObserver(func(e tenure.Event) {
			if e.Kind == tenure.EventStoreFailed {
				w.failing.Do(func() { close(w.failed) })
			}
		}), tenure.WithHealthCheck(func(context.Context) error {
			select {
			case <-w.failed:
				return errors.New("the store has failed once")
			default:
				return nil
			}
		}, 0))
	}
	return options
}

// exit writes the last event.
func (w *candidate) exit(err error) error {
	if store := w.store.Load(); store != nil {
		err = errors.Join(err, store.Close())
	}
	w.register.Close()
	err = errors.Join(err, leftBehind(w.before))
	end := &history.Exit{}
	if err != nil {
		end.Code, end.Reason = 1, err.Error()
	}
	w.say(history.Event{Exit: end})
	return errors.Join(err, w.history.Close())
}

// wait sleeps until ctx ends, at most.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
