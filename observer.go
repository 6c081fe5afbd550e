package tenure

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// observer is the state of one Observe. Calls to the store are made beside its loop, one at a time, so that neither
// pushes nor the silence of a leader wait for a store that does not answer.
type observer struct {
	store    Store
	election string
	renewals bool // are reported, too

	pushed   chan arrival // the last one only
	watching bool

	loaded  chan arrival
	loading bool
	sent    time.Time // the last load
	overdue time.Time // when the lack of its answer is to be reported

	sight sight
	last  Change
	since time.Time // first sight of the mark
	shown time.Time // last sight of it

	looked  time.Time // last arrival of any kind
	checked time.Time // last end of a load, well or not
	retries int
	doubts  int     // loads that are to be made because of what a push has shown
	soon    bool    // the first of them waits for nothing
	hinted  Version // what was pushed, if that may be later than what was seen
}

func newObserver(store Store, election string) *observer {
	return &observer{store: store, election: election, pushed: make(chan arrival, 1), loaded: make(chan arrival, 1)}
}

// arrival is what a load or a push has brought.
type arrival struct {
	snapshot Snapshot
	err      error
	loaded   bool
	skipped  bool // in favour of this push another was passed over, and which one is right a load has to tell
}

func (o *observer) run(ctx context.Context, yield func(Change, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer o.end()
	defer o.subscribe(ctx)()
	defer cancel() // before these two
	timer := time.NewTimer(o.firstWait())
	defer timer.Stop()
	for {
		var goesOn bool
		select {
		case <-ctx.Done():
			return
		case a := <-o.pushed:
			o.watching = a.err == nil
			goesOn = o.take(ctx, a, yield)
		case a := <-o.loaded:
			o.loading = false
			goesOn = o.take(ctx, a, yield)
		case <-timer.C:
			goesOn = o.act(ctx, yield)
		}
		if !goesOn {
			return
		}
		timer.Reset(o.wait())
	}
}

// end waits for the last load, so that well-behaved stores are left with nothing in flight.
func (o *observer) end() {
	if !o.loading {
		return
	}
	select {
	case <-o.loaded:
	case <-time.After(grace):
	}
}

// firstWait leaves a watch some time to deliver the first state.
func (o *observer) firstWait() time.Duration {
	if _, ok := o.store.(Watcher); ok {
		return DefaultTTL / 10
	}
	return 0
}

// act does what is due.
func (o *observer) act(ctx context.Context, yield func(Change, error) bool) bool {
	switch {
	case o.silent():
		o.looked = time.Now() // of which the report tells
		o.last.Silent = true
		return o.report(ChangeSilent, yield)
	case !o.loading:
		o.load(ctx)
	case !time.Now().Before(o.overdue):
		err := fmt.Errorf("no answer for %v: %w", time.Since(o.sent).Round(time.Millisecond), context.DeadlineExceeded)
		return o.take(ctx, arrival{err: err}, yield)
	}
	return true
}

func (o *observer) load(ctx context.Context) {
	patience := min(max(lease(o.last.Record), DefaultTTL/5), time.Minute)
	o.loading, o.soon, o.sent = true, false, time.Now()
	o.overdue = o.sent.Add(patience + grace)
	ctx, cancel := context.WithTimeout(ctx, patience)
	go func() {
		a := arrival{err: errCallGoexit, loaded: true}
		defer func() {
			cancel()
			o.loaded <- a
		}()
		a.snapshot, a.err = o.store.Load(ctx, o.election)
	}()
}

// take judges what arrived and yields it if it is a change; false ends the sequence.
func (o *observer) take(ctx context.Context, a arrival, yield func(Change, error) bool) bool {
	o.looked = time.Now()
	if a.loaded || a.err != nil {
		o.checked = o.looked
	}
	if a.err != nil {
		o.retries++
		o.overdue = o.looked.Add(o.spacing())
		return ctx.Err() == nil && yield(o.last, fmt.Errorf("tenure: observing %q: %w", o.election, a.err)) &&
			retriable(ctx, a.err)
	}
	regained := o.retries > 0
	o.retries = 0
	if a.skipped {
		o.lookAgain(1)
	}
	kind, changed := o.judge(a)
	if !changed && regained && o.renewals {
		kind, changed = ChangeRegained, true
	}
	return !changed || o.report(kind, yield)
}

func (o *observer) report(kind ChangeKind, yield func(Change, error) bool) bool {
	o.last.Kind, o.last.At = kind, o.looked
	return yield(o.last, nil)
}

// lookAgain has so many loads decide about a push. They are spread over a while, since reads may lag behind pushes.
func (o *observer) lookAgain(loads int) { o.soon, o.doubts = true, max(o.doubts, loads) }

// passedOver draws the conclusions from a snapshot that changed nothing.
func (o *observer) passedOver(a arrival) {
	switch newest := o.sight.newest; {
	case a.loaded:
		o.doubts = max(o.doubts-1, 0) // what the sight doubts it has confirmed by itself
	case compareSnapshots(a.snapshot, newest) >= 0 && !slices.Contains(o.sight.passed, a.snapshot.Version):
		o.hinted = a.snapshot.Version
		o.lookAgain(insisting)
	default:
		o.lookAgain(1)
	}
}

// takenIn draws the conclusions from a snapshot that is the present: whether that was news, and bears another mark.
func (o *observer) takenIn(a arrival, news, renewed bool) {
	if !a.loaded {
		return
	}
	o.doubts = max(o.doubts-1, 0)
	if a.snapshot.Version == o.hinted {
		o.doubts = 0
	}
	if news && !renewed { // nothing orders such states: if this one is old after all, the next look tells
		o.doubts = max(o.doubts, 1)
	}
	if renewed {
		o.watching = false // it should have been the watch that tells
	}
}

// silent reports whether the leader's silence is to be reported now. Pushes alone do not tell: one may be missing.
func (o *observer) silent() bool {
	ttl := lease(o.last.Record)
	return o.sight.known && o.last.Led() && time.Since(o.since) >= ttl && time.Since(o.checked) < max(ttl/5, MinTTL/5)
}

// interval is how long the observer lets the record go unseen.
func (o *observer) interval() time.Duration {
	interval := lease(o.last.Record)
	if !o.watching {
		interval /= 5
	}
	return min(max(interval, MinTTL/5), time.Minute)
}

// spacing is the interval, longer after failures.
func (o *observer) spacing() time.Duration {
	return min(o.interval()<<min(o.retries, 3), time.Minute)
}

// wait is the time until something is due: a look, a word about the lack of an answer, or about a leader's silence.
func (o *observer) wait() time.Duration {
	wait := o.untilLoad()
	if o.loading {
		wait = time.Until(o.overdue)
	}
	if o.sight.known && o.last.Led() {
		left := lease(o.last.Record) - time.Since(o.since)
		if left > 0 || !o.loading || o.silent() {
			wait = min(wait, left)
		}
	}
	return max(wait, time.Millisecond)
}

func (o *observer) untilLoad() time.Duration {
	confirming := confirming(o.last.Record)
	switch {
	case o.retries > 0:
		return o.spacing() - time.Since(o.looked)
	case o.soon:
		return confirming/20 - time.Since(o.sent)
	case o.doubts > 0 || o.sight.behind > 0:
		return confirming/(insisting-1) - time.Since(o.sent)
	}
	return o.interval() - time.Since(o.looked)
}
