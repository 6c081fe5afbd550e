package tenure

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// ChangeKind says how an election changed.
type ChangeKind uint8

const (
	// ChangeFirst is the state that an observer begins with.
	ChangeFirst ChangeKind = iota
	// ChangeElected: a new term.
	ChangeElected
	// ChangeReleased: the leader gave the seat back; it is vacant.
	ChangeReleased
	// ChangeSilent: the leader was not heard of for its TTL. Whether it still lives, no observer can know; it does
	// not trust itself any more.
	ChangeSilent
	// ChangeAbandoned: the store vouches that the leader's process is dead.
	ChangeAbandoned
	// ChangeReturned: a leader that was silent renewed its lease after all.
	ChangeReturned
	// ChangeAsked: somebody asked the leader to resign or to transfer the seat.
	ChangeAsked
	// ChangePaused and ChangeResumed: an operator paused the election, or lifted the pause.
	ChangePaused
	ChangeResumed
	// ChangeForgotten: the record was emptied.
	ChangeForgotten
	// ChangeLost: the record vanished or went back to an earlier state, in a way that no candidate brings about.
	ChangeLost
	// ChangeRenewed: the leader renewed its lease. Only observers [WithRenewals] hear of it.
	ChangeRenewed
	// ChangeRegained: the store answers again after a failure, and nothing has changed. Only observers [WithRenewals]
	// hear of it.
	ChangeRegained
)

var changeNames = [...]string{
	"first", "elected", "released", "silent", "abandoned", "returned", "asked", "paused", "resumed", "forgotten", "lost",
	"renewed", "regained",
}

// String returns the kind as commands print it.
func (k ChangeKind) String() string {
	if int(k) < len(changeNames) {
		return changeNames[k]
	}
	return fmt.Sprintf("change %d", uint8(k))
}

// Change is one change of an election as an observer saw it.
type Change struct {
	// Kind says what changed.
	Kind ChangeKind
	// At is when the observer saw it, by its wall clock.
	At time.Time
	// Record is the record as it is now, and Exists tells whether there is one.
	Record Record
	Exists bool
	// Silent tells whether the recorded leader has not been heard of for its TTL, and Abandoned whether the store
	// vouches for its death. The seat is vacant, or about to be taken.
	Silent, Abandoned bool
	// UnchangedSince is when the observer first saw the record's mark, which every renewal changes, by its own clocks.
	// If the leader is not heard of again, its seat can be taken once a candidate has seen the mark for Record.TTL; a
	// candidate may have seen it earlier or later than the observer did. Only [WithRenewals] keeps it up to date between
	// other changes.
	UnchangedSince time.Time
}

// Led reports whether, as far as the observer can know, somebody leads.
func (c Change) Led() bool { return !c.Record.Vacant() && !c.Silent && !c.Abandoned }

// ObserveOption adds to what [Observe] reports.
type ObserveOption interface{ observe(*observer) }

type observeOption func(*observer)

func (o observeOption) observe(to *observer) { o(to) }

// WithRenewals has what most observers do not want to hear reported, too: each renewal, and that a store that failed
// answers again. Of several renewals between two looks at the store only the last is seen, so that there are five per
// TTL at most where the store pushes none. It costs no call to the store.
func WithRenewals() ObserveOption { return observeOption(func(o *observer) { o.renewals = true }) }

// Observe yields the state of an election and then each change, without taking part in it: elections, releases,
// requests, pauses, and the silence of a leader; mere renewals only [WithRenewals]. Where the store pushes nothing it
// is polled five times per TTL. A failure of the store is yielded with the last Change known, and observation goes on;
// the sequence ends with ctx, or with an error that wraps [ErrPermanent] or [ErrConfig].
func Observe(ctx context.Context, store Store, election string, options ...ObserveOption) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if err := checkPlace(store, election); err != nil {
			yield(Change{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		o := &observer{store: store, election: election, pushed: make(chan pushed, 1)}
		for _, option := range options {
			option.observe(o)
		}
		defer o.subscribe(ctx)()
		o.run(ctx, yield)
	}
}

type pushed struct {
	snapshot Snapshot
	err      error
}

// observer is the state of one Observe.
type observer struct {
	store    Store
	election string
	pushed   chan pushed // the last one only
	watching bool
	renewals bool // are reported, too

	known   bool
	last    Change
	since   time.Time // first sight of the mark
	looked  time.Time
	retries int
}

// subscribe asks for pushes, if the store has them.
func (o *observer) subscribe(ctx context.Context) (stop func()) {
	watcher, ok := o.store.(Watcher)
	if !ok {
		return func() {}
	}
	stop, err := watcher.Watch(ctx, o.election, o.deliver)
	if err != nil {
		return func() {} // polling needs no watch
	}
	return stop
}

func (o *observer) deliver(s Snapshot, err error) {
	for {
		select {
		case o.pushed <- pushed{s, err}:
			return
		default:
		}
		select {
		case <-o.pushed: // superseded
		default:
		}
	}
}

func (o *observer) run(ctx context.Context, yield func(Change, error) bool) {
	timer := time.NewTimer(o.firstWait())
	defer timer.Stop()
	for {
		var p pushed
		silent := false
		select {
		case <-ctx.Done():
			return
		case p = <-o.pushed:
			o.watching = p.err == nil
		case <-timer.C:
			if o.silent() {
				silent = true
				break
			}
			p.snapshot, p.err = o.store.Load(ctx, o.election)
		}
		if !o.take(ctx, p, silent, yield) {
			return
		}
		timer.Reset(o.wait())
	}
}

// firstWait leaves a watch some time to deliver the first state.
func (o *observer) firstWait() time.Duration {
	if _, ok := o.store.(Watcher); ok {
		return DefaultTTL / 10
	}
	return 0
}

// take judges what arrived and yields it if it is a change; false ends the sequence.
func (o *observer) take(ctx context.Context, p pushed, silent bool, yield func(Change, error) bool) bool {
	o.looked = time.Now()
	switch {
	case silent:
		o.last.Silent = true
		return o.report(ChangeSilent, yield)
	case p.err != nil:
		o.retries++
		return ctx.Err() == nil && yield(o.last, fmt.Errorf("tenure: observing %q: %w", o.election, p.err)) &&
			retriable(ctx, p.err)
	}
	regained := o.retries > 0
	o.retries = 0
	kind, changed := o.judge(p.snapshot)
	if !changed && regained && o.renewals {
		kind, changed = ChangeRegained, true
	}
	return !changed || o.report(kind, yield)
}

func (o *observer) report(kind ChangeKind, yield func(Change, error) bool) bool {
	o.last.Kind, o.last.At = kind, o.looked
	return yield(o.last, nil)
}

// judge takes in a snapshot and tells what it changes.
func (o *observer) judge(s Snapshot) (ChangeKind, bool) {
	before, known := o.last, o.known
	marked := known && before.Record.Session == s.Record.Session && before.Record.Token == s.Record.Token &&
		before.Record.Renewals == s.Record.Renewals
	if !marked {
		o.since = o.looked
	}
	o.known = true
	o.last = Change{
		Record: s.Record, Exists: s.Exists(), Silent: before.Silent && marked, Abandoned: s.Abandoned,
		UnchangedSince: o.since,
	}
	if !known {
		return ChangeFirst, true
	}
	if kind, changed := compare(before, o.last); changed {
		return kind, true
	}
	return ChangeRenewed, o.renewals && !marked
}

// compare names the most telling difference.
func compare(before, now Change) (ChangeKind, bool) {
	for _, d := range differences {
		if d.seen(before, now, before.Record, now.Record) {
			return d.kind, true
		}
	}
	return ChangeFirst, false
}

// differences are the kinds of change, the most telling first.
var differences = []struct {
	kind ChangeKind
	seen func(before, now Change, a, b Record) bool
}{
	{ChangeLost, func(before, now Change, a, b Record) bool {
		return b.Token < a.Token || before.Exists && !now.Exists && b.Token <= a.Token
	}},
	{ChangeForgotten, func(_, _ Change, a, b Record) bool { return b.Forgotten && !a.Forgotten }},
	{ChangeElected, func(_, _ Change, a, b Record) bool {
		return !b.Vacant() && (a.Session != b.Session || a.Token != b.Token)
	}},
	{ChangeReleased, func(_, _ Change, a, b Record) bool { return b.Vacant() && !a.Vacant() }},
	{ChangePaused, func(_, _ Change, a, b Record) bool { return b.Pause != nil && a.Pause == nil }},
	{ChangeResumed, func(_, _ Change, a, b Record) bool { return b.Pause == nil && a.Pause != nil }},
	{ChangeAsked, func(_, _ Change, a, b Record) bool {
		return b.Request != nil && (a.Request == nil || *a.Request != *b.Request)
	}},
	{ChangeAbandoned, func(before, now Change, _, _ Record) bool { return now.Abandoned && !before.Abandoned }},
	{ChangeReturned, func(before, now Change, _, _ Record) bool { return before.Silent && !now.Silent }},
}

// silent reports whether the leader's silence is to be reported now.
func (o *observer) silent() bool {
	return o.known && o.last.Led() && time.Since(o.since) >= o.last.Record.TTL && time.Since(o.looked) < o.interval()
}

// interval is how long the observer lets the record go unseen.
func (o *observer) interval() time.Duration {
	ttl := o.last.Record.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	if o.watching {
		return ttl
	}
	return ttl / 5
}

// wait is the time until the next look, or until the leader's silence would be worth a report.
func (o *observer) wait() time.Duration {
	wait := min(o.interval()<<min(o.retries, 3), time.Minute)
	if o.known && o.last.Led() {
		wait = min(wait, o.last.Record.TTL-time.Since(o.since))
	}
	return max(wait, time.Millisecond)
}
