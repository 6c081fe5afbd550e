package scenario

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

// recorder is a test that may fail, and then stops.
type recorder struct {
	*testing.T
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// run returns what is wrong by a scenario.
func run(t *testing.T, scenario func(t TB)) (failures []string) {
	t.Helper()
	r := &recorder{T: t}
	defer func() {
		if stopped := recover(); stopped != nil && stopped != r {
			panic(stopped)
		}
		failures = r.failures
	}()
	scenario(r)
	return r.failures
}

// same is for candidates that share one store.
func same(store tenure.Store) Open { return func() tenure.Store { return store } }

// silence is a trouble of a store after which its watches tell nothing.
func silence(store tenuretest.Faulty) func() { return func() { store.Inject(tenuretest.Silence()) } }

// away is a trouble of a store that has no answer for as long as d.
func away(store tenuretest.Faulty, d time.Duration) func() {
	return func() {
		heal := store.Inject(tenuretest.Freeze())
		time.Sleep(d)
		heal()
	}
}

// outage is one of a store that a test puts faults around.
func outage(store tenuretest.Faulty) Outage {
	var heal func()
	return Outage{func() { heal = store.Inject(tenuretest.Freeze()) }, func() { heal() }}
}

// counted is a store of a herd. It tries each write that is rejected so many times more.
type counted struct {
	tenuretest.Faulty
	again                 int
	sent, tried, accepted atomic.Int64
}

func (c *counted) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (snapshot tenure.Snapshot, err error) {
	for range 1 + c.again {
		c.sent.Add(1)
		c.tried.Add(1)
		if snapshot, err = c.Faulty.CompareAndSwap(ctx, election, old, record); err == nil {
			c.accepted.Add(1)
			break
		}
	}
	return snapshot, err
}

func (c *counted) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	return c.Faulty.(tenure.Watcher).Watch(ctx, election, deliver)
}

// herd is a scenario over such a store. What it counts as accepted besides its writes is in extra.
func herd(again int, sends, extra int64) func(t TB, s tenuretest.Faulty) {
	return func(t TB, s tenuretest.Faulty) {
		c := &counted{Faulty: s, again: again}
		Herd{
			Candidates: 20, Stores: []tenure.Store{c}, Sends: sends, Sent: c.sent.Load, Tried: c.tried.Load,
			Accepted: func() int64 { return c.accepted.Load() * (1 + extra) },
		}.Check(t)
	}
}

// What each scenario finds in a store with which nothing is wrong, and in one with a fault that it is there to find.
func TestWhatIsFound(t *testing.T) {
	nothing := func() {}
	for name, test := range map[string]struct {
		scenario func(t TB, s tenuretest.Faulty)
		found    bool
	}{
		"hand-over":            {func(t TB, s tenuretest.Faulty) { HandOver(t, same(s)) }, false},
		"nobody is told":       {func(t TB, s tenuretest.Faulty) { silence(s)(); HandOver(t, same(s)) }, true},
		"trouble":              {func(t TB, s tenuretest.Faulty) { TermOutlives(t, same(s), away(s, time.Minute)) }, false},
		"too much trouble":     {func(t TB, s tenuretest.Faulty) { TermOutlives(t, same(s), away(s, time.Hour+time.Minute)) }, true},
		"trouble that stays":   {func(t TB, s tenuretest.Faulty) { TermOutlives(t, same(s), outage(s).Begin) }, true},
		"nobody is told later": {func(t TB, s tenuretest.Faulty) { TermOutlives(t, same(s), silence(s)) }, true},
		"outages":              {func(t TB, s tenuretest.Faulty) { Outages(t, same(s), outage(s), outage(s)) }, false},
		"no outage":            {func(t TB, s tenuretest.Faulty) { Outages(t, same(s), Outage{nothing, nothing}) }, true},
		"an outage that stays": {func(t TB, s tenuretest.Faulty) { Outages(t, same(s), Outage{outage(s).Begin, nothing}) }, true},
		"no member is lost":    {func(t TB, s tenuretest.Faulty) { MemberIsLost(t, same(s), s, Outage{nothing, nothing}) }, false},
		"all members are lost": {func(t TB, s tenuretest.Faulty) { MemberIsLost(t, same(s), s, outage(s)) }, true},
		"a herd":               {herd(0, 1, 0), false},
		"a herd that insists":  {herd(1, 1, 0), true},
		"a herd that may":      {herd(1, 2, 0), false},
		"one write too many":   {herd(0, 1, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := tenuretest.NewFaulty(memory.New())
				store.Inject(tenuretest.DelayRequest(10 * time.Millisecond)) // or everything happens at one instant
				defer store.Heal()
				failures := run(t, func(t TB) { test.scenario(t, store) })
				if found := len(failures) > 0; found != test.found {
					t.Errorf("found was %q", failures)
				}
			})
		})
	}
}
