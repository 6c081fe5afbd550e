package tenure

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// sight is what somebody who only looks has seen of an election's record. Within one history (token, renewals) never
// falls, so the highest state seen stands for the present, whatever way it came. A lower one is old, unless loads go on
// showing it: then the store has lost what it had acknowledged.
type sight struct {
	known  bool
	newest Snapshot
	passed []Version // of the same mark as newest, which took their place; the latest last

	behind      int       // loads in a row that showed an older state
	behindSince time.Time // reply of the first of them

	peak      Snapshot // the newest before the store went back, of which pushes may still be on their way
	peakUntil time.Time
}

// verdict is what a snapshot means to a sight.
type verdict uint8

const (
	outdated verdict = iota // changes nothing, but is a reason to look again
	present                 // what the store holds: something new, or what was known
	wentBack                // what the store holds, though it held a later state
)

// insisting is how many loads in a row have to show an older state before it is believed.
const insisting = 3

// confirming is over how long these loads are spread. It is longer than replicas usually lag, and so short that
// candidates, who wait for a TTL, do not bury what was lost under a new term meanwhile.
func confirming(r Record) time.Duration {
	ttl := lease(r)
	return min(max(ttl/5, min(ttl/2, DefaultTTL/5)), time.Minute)
}

// longestLease is so long that nobody waits for it, and so short that sums do not overflow.
const longestLease = math.MaxInt64 / 2

// lease is the TTL of a record as far as it makes sense: nobody elects with another, but people edit records.
func lease(r Record) time.Duration {
	if r.TTL <= 0 {
		return DefaultTTL
	}
	return min(r.TTL, longestLease)
}

// take judges a snapshot that has arrived now, by a load or by a push, and takes it in if it is the present.
func (s *sight) take(now time.Time, snap Snapshot, loaded bool) verdict {
	order := compareSnapshots(snap, s.newest)
	switch {
	case !s.known, order > 0 && (loaded || !s.lost(now, snap)):
		s.adopt(snap, nil)
		return present
	case order == 0 && snap.Version == s.newest.Version:
		s.repeated(snap, loaded)
		return present
	case !loaded:
		return outdated
	case order == 0 && !slices.Contains(s.passed, snap.Version): // no version recurs, so this one is later
		snap.Abandoned = snap.Abandoned || s.newest.Abandoned
		s.adopt(snap, append(s.passed[max(0, len(s.passed)-15):], s.newest.Version))
		return present
	case !s.insists(now):
		return outdated
	case order == 0:
		s.adopt(snap, nil)
		return present
	}
	if compareSnapshots(s.newest, s.peak) > 0 {
		s.peak = s.newest
	}
	s.peakUntil = now.Add(time.Minute)
	s.adopt(snap, nil)
	return wentBack
}

func (s *sight) adopt(snap Snapshot, passed []Version) {
	s.known, s.newest, s.passed, s.behind = true, snap, passed, 0
}

// repeated takes in the state that is known. A push of it may be old, and no reason to doubt loads that show another.
func (s *sight) repeated(snap Snapshot, loaded bool) {
	s.newest.Abandoned = s.newest.Abandoned || snap.Abandoned // death is final
	if loaded {
		s.behind = 0
	}
}

// lost reports whether a state that was pushed is perhaps one that the store has lost since.
func (s *sight) lost(now time.Time, snap Snapshot) bool {
	return now.Before(s.peakUntil) && compareSnapshots(snap, s.peak) <= 0
}

// insists counts a load that showed an older state, and reports whether it is to be believed.
func (s *sight) insists(now time.Time) bool {
	if s.behind == 0 {
		s.behindSince = now
	}
	s.behind++
	return s.behind >= insisting && now.Sub(s.behindSince) >= confirming(s.newest.Record)
}

// compareSnapshots orders two states of one history: negative if a is older than b, zero if they bear the same mark, so
// that they differ at most by a request or a pause. A state that cannot be of the same history as b counts as older.
func compareSnapshots(a, b Snapshot) int {
	order := cmp.Or(cmp.Compare(a.Record.Token, b.Record.Token), cmp.Compare(a.Record.Renewals, b.Record.Renewals))
	switch {
	case !a.Exists() && b.Exists():
		return -1 // its token is the store's floor, which other elections raise too
	case a.Exists() && !b.Exists():
		if a.Record.Token < b.Record.Token {
			return -1 // no record is made below the floor
		}
		return 1
	case order == 0 && a.Record.Session != b.Record.Session:
		return -1
	default:
		return order
	}
}

// sameRequest and samePause compare what two records say, whatever zone they say it in.
func sameRequest(a, b *Request) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Token == b.Token && a.To == b.To && a.By == b.By && a.At.Equal(b.At)
}

func samePause(a, b *Pause) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.By == b.By && a.Reason == b.Reason && a.At.Equal(b.At)
}
