//go:build linux

package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/register"
)

const (
	// unaware is how long a command may not have run and still be sure that its guard would have ended it.
	unaware = 50 * time.Millisecond
	// settled is for how long it has to have run since, to know that its guard had no reason to.
	settled = 300 * time.Millisecond
)

// vigil is what a command has instead of a question whether it leads: it lives while its supervisor does, and acts
// while it lives, so that it is trusted for as long as it lives. After a moment without running it claims nothing until
// it has been alive for a while: if its guard was stopped with it, both wake at once, and what it does before it is
// killed only its token can stop.
type vigil struct{ last, since history.Instant }

// sure reports whether the command can claim that it is trusted, and was all the time.
func (v *vigil) sure(now history.Instant) bool {
	if v.last != 0 && now.Sub(v.last) > unaware {
		v.since = now.Add(settled)
	}
	v.last = now
	return now >= v.since
}

// runCommand is what tenure run runs: it changes the registers under the term's token until it is told to end.
func runCommand(c *Config) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	token, err := strconv.ParseUint(os.Getenv("TENURE_TOKEN"), 10, 64)
	if err != nil {
		return fmt.Errorf("TENURE_TOKEN: %w", err)
	}
	session := fmt.Sprintf("%s.%d", c.Name, c.Life) // the supervisor's; the command's own life is another
	h, err := nextLife(c)
	if err != nil {
		return err
	}
	return errors.Join(command(ctx, c, h, token, session), h.Close())
}

// command is the life of a command, which ends when ctx does. Its supervisor may start another one within the term once
// this one has ended, with the same token and session.
func command(ctx context.Context, c *Config, h *history.Writer, token uint64, session string) error {
	start := &history.Start{PID: os.Getpid(), Store: c.Store, Kind: "command", Session: session, TTL: c.TTL}
	if err := h.Write(history.Event{Start: start}); err != nil {
		return err
	}
	r := register.NewClient(c.Register, c.Name, h)
	defer r.Close()
	return errors.Join(term(ctx, h, r, token, session), h.Write(history.Event{Exit: &history.Exit{}}))
}

// term is what a command does and claims.
func term(ctx context.Context, h *history.Writer, r *register.Client, token uint64, session string) error {
	if err := h.Write(history.Event{Elected: &history.Elected{Token: token, Session: session}}); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx, r, token, func() bool { return true })
	}()
	if err := keepVigil(ctx, h, token, session); err != nil {
		return err
	}
	<-done
	return h.Write(history.Event{Ended: &history.Ended{Token: token, Session: session, Cause: "told to end"}})
}

func keepVigil(ctx context.Context, h *history.Writer, token uint64, session string) error {
	trusted := history.NewTrusted(h)
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for v := (vigil{}); ctx.Err() == nil; <-tick.C {
		if !v.sure(history.Now()) {
			continue
		}
		if _, err := trusted.Ask(token, session, func() bool { return true }); err != nil {
			return err
		}
	}
	return trusted.Flush()
}

// nextLife begins the history of the first life that has none yet.
func nextLife(c *Config) (*history.Writer, error) {
	for c.Life = 1; ; c.Life++ {
		h, err := history.Create(c.Dir, c.Name, c.Life)
		if !errors.Is(err, fs.ErrExist) {
			return h, err
		}
	}
}
