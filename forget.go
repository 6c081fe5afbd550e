package tenure

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// Forget empties the record of an election that nobody uses any more, down to a tombstone that keeps its token, and a
// pause if there is one; the next term goes on from there. What does not exist, or is a tombstone, is left as it is.
//
// A record that still names a leader is watched first: for its TTL and a hundredth of that, by the monotonic clock and
// from the reply of the first look on. It is looked at ten times meanwhile, at least once a minute, and left alone,
// with [ErrHeld], at the first sign of a leader that lives. A ctx that ends sooner leaves the record as it is. Other
// errors, and what is done about failures, are those of [Ask].
func Forget(ctx context.Context, store Store, election string) error {
	f := &forgetting{}
	e := &edit{store: store, election: election, doing: "forgetting the election", next: f.next}
	_, err := e.run(ctx)
	return err
}

// forgetting counts for how long a leader has not been heard of.
type forgetting struct {
	seen    bool
	first   Snapshot
	since   time.Time     // first sight of it
	longest time.Duration // the longest TTL seen: it may be edited meanwhile
}

func (f *forgetting) next(now Snapshot, _ bool) step {
	f.longest = max(f.longest, lease(now.Record))
	order := compareSnapshots(now, f.first)
	if !f.seen || order < 0 { // whose record the store went back to was not watched yet
		f.seen, f.first, f.since, order = true, now, time.Now(), 0
	}
	switch left := f.left(); {
	case !now.Exists() || now.Record.Forgotten:
		return doneWith(now.Record)
	case now.Record.Vacant() || now.Abandoned:
		return toWrite(tombstone(now.Record))
	case order > 0:
		return refused(ErrHeld)
	case left > 0:
		return lookIn(min(left, f.longest/10, time.Minute))
	}
	return toWrite(tombstone(now.Record))
}

// left is for how long a leader has yet to be watched: as long as a candidate with the default clock error waits.
func (f *forgetting) left() time.Duration {
	margin := protocol.Config{ClockError: defaultClockError, Grain: clock.Grain}
	return margin.Wait(f.longest) - time.Since(f.since)
}

// tombstone is what is left of a record. Its number is drawn as those of renewals are: where a store loses one
// tombstone and gets another, no candidate takes the second for the first.
func tombstone(r Record) Record {
	return Record{
		Token: r.Token, Renewals: r.Renewals + 1 + fresh{}.Uint64()%protocol.Stride, TTL: r.TTL, Forgotten: true,
		Pause: r.Pause, Extra: r.Extra,
	}
}
