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
	// ChangeForgotten: the record was emptied, or deleted once nobody used it.
	ChangeForgotten
	// ChangeLost: the record vanished or went back to an earlier state, in a way that no candidate brings about. It is
	// reported once several loads have shown so, over a fifth of the TTL: one that does may be an old state.
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
// requests, pauses, and the silence of a leader; mere renewals only [WithRenewals]. Where the store pushes nothing, or
// fails to set its watch up, it is polled five times per TTL, and at least once a minute.
//
// States are ordered by (token, renewals). One that is older than what was seen changes nothing, but has the store
// looked at again: an answer of a replica that lags, by less than a fifth of the TTL, or a push that was overtaken. If
// the store really lost writes, [ChangeLost] tells so, and from then on the earlier state counts. A push that differs
// by a request or a pause alone is reported once a load has confirmed it, since nothing orders such states.
//
// A failure of the store is yielded with the last Change known, and observation goes on; so is the lack of an answer
// for a TTL, though at least for two seconds and at most for a minute. The sequence ends with ctx, or with an error
// that wraps [ErrPermanent] or [ErrConfig]; a store that does not heed its context delays the end by two seconds at
// most. While the consumer is busy, changes wait, of which the last one remains. Observers are independent of each
// other.
func Observe(ctx context.Context, store Store, election string, options ...ObserveOption) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if err := checkPlace(store, election); err != nil {
			yield(Change{}, err)
			return
		}
		o := newObserver(store, election)
		for _, option := range options {
			option.observe(o)
		}
		o.run(ctx, yield)
	}
}

// judge takes in what arrived and tells what it changes.
func (o *observer) judge(a arrival) (ChangeKind, bool) {
	before, known, old := o.last, o.sight.known, o.sight.newest
	v := o.sight.take(o.looked, a.snapshot, a.loaded)
	if v == outdated {
		o.passedOver(a)
		return ChangeFirst, false
	}
	now := o.sight.newest
	marked := known && compareSnapshots(now, old) == 0
	if !marked {
		o.since = o.looked
	}
	if known {
		o.takenIn(a, now.Version != old.Version, !marked)
	}
	o.last = Change{
		Record: now.Record, Exists: now.Exists(), Silent: before.Silent && marked, Abandoned: now.Abandoned,
		UnchangedSince: o.since,
	}
	lost := v == wentBack && !o.pruned(before)
	o.shown = o.looked
	switch {
	case !known:
		return ChangeFirst, true
	case lost:
		return ChangeLost, true
	}
	if kind, changed := compare(before, o.last); changed {
		return kind, true
	}
	return ChangeRenewed, o.renewals && !marked
}

// pruned reports whether a record that is gone was deleted properly, as far as anybody can tell: only one that nobody
// used, with its token kept by the floor. One that was not seen for a while can have fallen out of use meanwhile.
func (o *observer) pruned(before Change) bool {
	unused := before.Record.Vacant() && before.Record.Pause == nil || o.looked.Sub(o.shown) > 2*lease(before.Record)
	return before.Exists && !o.last.Exists && o.last.Record.Token >= before.Record.Token && unused
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
	{ChangeForgotten, func(before, now Change, a, b Record) bool {
		return !a.Forgotten && (b.Forgotten || before.Exists && !now.Exists)
	}},
	{ChangeElected, func(_, _ Change, a, b Record) bool {
		return !b.Vacant() && (a.Session != b.Session || a.Token != b.Token)
	}},
	{ChangeReleased, func(_, _ Change, a, b Record) bool { return b.Vacant() && !a.Vacant() }},
	{ChangePaused, func(_, _ Change, a, b Record) bool { return b.Pause != nil && a.Pause == nil }},
	{ChangeResumed, func(_, _ Change, a, b Record) bool { return b.Pause == nil && a.Pause != nil }},
	{ChangeAsked, func(_, _ Change, a, b Record) bool { return b.Request != nil && !sameRequest(a.Request, b.Request) }},
	{ChangeAbandoned, func(before, now Change, _, _ Record) bool { return now.Abandoned && !before.Abandoned }},
	{ChangeReturned, func(before, now Change, _, _ Record) bool { return before.Silent && !now.Silent }},
}
