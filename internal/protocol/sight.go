package protocol

import (
	"slices"
	"time"
)

// sight is what the machine has seen of the record, and since when on its own monotonic clock. The record's history
// only rises, so the highest record seen stands for the present; a lower one does not replace it but is kept beside
// it as the gap, since it is either a stale read or what a store that lost writes really holds now.
type sight struct {
	known  bool
	newest Snapshot
	since  time.Duration // first sight of newest's mark
	heard  time.Duration // last word of any kind

	freeSince time.Duration // first sight of newest as abandoned
	replaced  string        // the last version that a conflict has proved to be gone
	newestOut bool          // newest's version was proved to be gone, too
	denied    int           // loads in a row that showed one such version …
	insisted  string        // … which is this

	gap      Snapshot
	gapSince time.Duration // first sight of the gap's mark
	hasGap   bool

	ttl     time.Duration // the longest TTL seen with newest's token: one that was shortened by hand shortens no wait
	longest time.Duration // the longest TTL ever seen
	highest uint64        // the highest token or floor ever seen

	// Versions of newest's mark other than newest's own, since a watch may repeat what is past. Those that are past
	// are known from a load that showed another; of the rest nobody knows.
	past, unsure []string
}

// maxVersions bounds the versions of one mark that are remembered.
const maxVersions = 8

// verdict is how a snapshot relates to what was seen before.
type verdict uint8

const (
	stale verdict = iota // certainly not the present
	lower                // lower than what was seen: a gap
	same                 // nothing new but perhaps a request
	newer
)

// observe takes in a snapshot that has arrived by now, by a push or else by a call.
func (s *sight) observe(now time.Duration, snap Snapshot, pushed bool) verdict {
	s.heard = now
	s.longest = max(s.longest, snap.Record.TTL)
	s.highest = max(s.highest, snap.Record.Token)
	if sameToken(s.newest, snap) {
		s.ttl = max(s.ttl, snap.Record.TTL)
	}
	if s.proved(snap) {
		return stale
	}
	s.denied = 0
	v := s.judge(snap)
	switch v {
	case newer:
		s.renew(now, snap)
	case same:
		s.touch(now, snap, pushed)
	case lower:
		s.wentBack(now, snap)
	}
	return v
}

// renew begins the count of another mark.
func (s *sight) renew(now time.Duration, snap Snapshot) {
	ttl := snap.Record.TTL
	if sameToken(s.newest, snap) {
		ttl = max(ttl, s.ttl)
	}
	*s = sight{
		known: true, newest: snap, since: now, freeSince: now, heard: now,
		ttl: ttl, longest: s.longest, highest: s.highest,
	}
}

// touch takes in another state of the same mark, in which no more than a request or the pause differs. The order of
// two such states nobody can tell, unless a call has shown the later one.
func (s *sight) touch(now time.Duration, snap Snapshot, pushed bool) {
	if snap.Abandoned && !s.newest.Abandoned {
		s.freeSince = now
	}
	if snap.Version != s.newest.Version {
		s.unsure = appendBounded(s.unsure, s.newest.Version, maxVersions)
	}
	s.newest, s.newestOut, s.hasGap = snap, false, false
	if !pushed {
		for _, version := range s.unsure {
			if version != snap.Version {
				s.past = appendBounded(s.past, version, maxVersions)
			}
		}
		s.unsure = nil
	}
}

// wentBack notes that the store may have gone back to snap.
func (s *sight) wentBack(now time.Duration, snap Snapshot) {
	if !s.hasGap || !sameMark(s.gap, snap) {
		s.gapSince = now
	}
	s.gap, s.hasGap = snap, true
}

// insists reports whether loads go on showing a version that is proved to be gone. Two in a row may be old states; with
// the third it is to be believed.
func (s *sight) insists(version string) bool {
	if version != s.insisted {
		s.denied, s.insisted = 0, version
	}
	s.denied++
	return s.denied > 2
}

// revive takes a state of newest's mark for the present that was thought to be older than newest.
func (s *sight) revive(snap Snapshot) {
	for i, version := range s.past {
		if version == snap.Version {
			s.past[i] = s.newest.Version
		}
	}
	if s.replaced == snap.Version {
		s.replaced = ""
	}
	s.newest, s.newestOut, s.hasGap, s.denied = snap, false, false, 0
}

// isPast reports whether snap differs from newest by a request or the pause alone, and was thought to be older.
func (s *sight) isPast(snap Snapshot) bool { return slices.Contains(s.past, snap.Version) }

func (s *sight) judge(snap Snapshot) verdict {
	if !s.known {
		return newer
	}
	if !snap.Exists() {
		return s.judgeMissing(snap)
	}
	switch order := snap.Record.compare(s.newest.Record); {
	case order > 0:
		return newer
	case order == 0 && s.newest.Exists() && snap.Record.Session == s.newest.Record.Session:
		if s.hasGap && snap.Record.Vacant() && snap.Version != s.newest.Version {
			return lower // vacant records bear no session: this one may have been written over the gap
		}
		return same
	case order == 0 && !s.newest.Exists():
		return newer
	}
	return lower
}

// judgeMissing judges the absence of a record. Whether one that was there vanished, or was deleted properly, nobody can
// tell: the floor for new records is the store's, and other elections raise it too (S13).
func (s *sight) judgeMissing(snap Snapshot) verdict {
	switch floor := snap.Record.Token; {
	case s.newest.Exists() || floor < s.newest.Record.Token:
		return lower
	case floor == s.newest.Record.Token:
		return same
	}
	return newer
}

// identity tells states apart as a swap does. The absence of a record has no version, and is another under another
// floor.
type identity struct {
	version string
	floor   uint64
}

func (s Snapshot) identity() identity {
	if s.Exists() {
		return identity{version: s.Version}
	}
	return identity{floor: s.Record.Token}
}

// sameMark reports whether two snapshots bear the same mark, so that a count of one goes on with the other.
func sameMark(a, b Snapshot) bool {
	return a.Exists() == b.Exists() && a.Record.compare(b.Record) == 0 && a.Record.Session == b.Record.Session
}

// sameToken reports whether two snapshots may be of one term. They may be of two, and the store may show now the one
// and now the other, if it has lost a bid: so the session is not asked.
func sameToken(a, b Snapshot) bool { return a.Record.Token == b.Record.Token }

// present is what the store most likely holds.
func (s *sight) present() Snapshot {
	if s.hasGap {
		return s.gap
	}
	return s.newest
}

// gone reports whether newest is certainly not what the store holds.
func (s *sight) gone() bool { return s.newestOut }

// paused reports whether no state that the store may hold lets anybody bid.
func (s *sight) paused() bool {
	switch {
	case !s.hasGap:
		return s.newest.Record.Paused
	case s.gone():
		return s.gap.Record.Paused
	}
	return s.gap.Record.Paused && s.newest.Record.Paused
}

// token is the highest token of the history that newest stands for.
func (s *sight) token() uint64 { return s.newest.Record.Token }

// conflicted notes that a write found another state than the expected one.
func (s *sight) conflicted(base identity) {
	s.replaced, s.denied = base.version, 0
	s.newestOut = s.newestOut || s.newest.identity() == base
}

// proved reports whether a conflict has proved that snap is gone. Of the absence of a record that holds only as long
// as the floor is the same.
func (s *sight) proved(snap Snapshot) bool {
	if !snap.Exists() {
		return s.newestOut && s.newest.identity() == snap.identity()
	}
	return snap.Version == s.replaced || s.newestOut && snap.Version == s.newest.Version ||
		slices.Contains(s.past, snap.Version)
}

// opening is when the seat is free, and from which state of the record it can be taken.
type opening struct {
	at     time.Duration
	base   Snapshot
	reason string
}

// opening returns the earliest moment at which the seat is free for the candidate, as far as is known now. A gap
// counts as held for the longest lease ever seen: its lost leader may still trust itself. Nevertheless the newest
// record stays open on its own count, unless a conflict has shown that it is gone: a stale read must not delay.
func (s *sight) opening(c *Config) opening {
	first := s.openingOfNewest(c)
	if !s.hasGap {
		return first
	}
	second := opening{s.gapSince + c.Wait(s.longest), s.gap, "the record went back, and the longest lease seen has passed"}
	switch {
	case s.gone() || s.newest.Record.Paused:
		return second
	case s.gap.Record.Paused || first.at <= second.at:
		return first
	}
	return second
}

func (s *sight) openingOfNewest(c *Config) opening {
	r, ttl := s.newest.Record, s.ttl
	if ttl == 0 {
		ttl = c.TTL // no candidate wrote that
	}
	switch {
	case !s.newest.Exists():
		return opening{s.since, s.newest, "there is no record"}
	case r.Vacant() && (r.Reserved == "" || r.Reserved == c.ID):
		return opening{s.since, s.newest, "the seat is vacant"}
	case r.Vacant():
		return opening{s.since + c.Wait(ttl), s.newest, "the seat was kept for a candidate that did not come"}
	case s.newest.Abandoned:
		return opening{s.freeSince, s.newest, "the seat is abandoned"}
	}
	return opening{s.since + c.Wait(ttl), s.newest, "the leader was silent for a lease"}
}

func (s *sight) clone() sight {
	c := *s
	c.past, c.unsure = slices.Clone(s.past), slices.Clone(s.unsure)
	return c
}
