package bubble

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
)

// company is what a candidate calls besides the store: a log handler, an observer and a health check, which block,
// panic and end their goroutines.
type company struct {
	dice   *dice
	ttl    time.Duration
	shares shares
	inside atomic.Int32 // calls under way
	sick   atomic.Bool
	healed atomic.Bool // nothing happens any more
}

// shares are how often each of them misbehaves.
type shares struct{ log, observer, health float64 }

func newCompany(d *dice, ttl time.Duration) *company {
	c := &company{dice: d, ttl: ttl}
	for _, share := range []*float64{&c.shares.log, &c.shares.observer, &c.shares.health} {
		if d.chance(1. / 3) {
			*share = 0.1
		}
	}
	return c
}

func (c *company) options() []tenure.Option {
	return []tenure.Option{
		tenure.WithLogger(slog.New(handler{c})),
		tenure.WithObserver(func(tenure.Event) { c.misbehave(c.shares.observer) }),
		tenure.WithHealthCheck(c.check, 0),
	}
}

// misbehave does one of the three things in a share of the calls.
func (c *company) misbehave(share float64) {
	c.inside.Add(1)
	defer c.inside.Add(-1)
	if c.healed.Load() || !c.dice.chance(share) {
		return
	}
	switch c.dice.one(4) {
	case 0:
		panic("nobody expects this")
	case 1:
		runtime.Goexit()
	default:
		time.Sleep(c.dice.upTo(2 * c.ttl))
	}
}

var errSick = errors.New("sick")

func (c *company) check(context.Context) error {
	if c.sick.Load() && !c.healed.Load() {
		return errSick
	}
	c.misbehave(c.shares.health / 5) // it is called all the time
	return nil
}

// handler is a log handler.
type handler struct{ *company }

func (handler) Enabled(context.Context, slog.Level) bool { return true }
func (h handler) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h handler) WithGroup(string) slog.Handler          { return h }

func (h handler) Handle(context.Context, slog.Record) error {
	h.misbehave(h.shares.log)
	return nil
}
