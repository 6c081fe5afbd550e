package protocol

import "time"

// sight is what the machine has seen of the record, and since when on its own monotonic clock. The record's history
// only rises, so the highest record seen stands for the present; a lower one does not replace it but is kept beside
// it as the gap, since it is either a stale read or what a store that lost writes really holds now.
type sight struct {
	known  bool
	newest Snapshot
	since  time.Duration // first sight of newest's mark
	heard  time.Duration // last word of any kind

	freeSince time.Duration // first sight of newest as abandoned
	replaced  string        // a version that a conflict has proved to be gone

	gap      Snapshot
	gapSince time.Duration // first sight of the gap's mark
	hasGap   bool

	longest time.Duration // the longest TTL ever seen
}

// verdict is how a snapshot relates to what was seen before.
type verdict uint8

const (
	stale verdict = iota // certainly not the present
	lower                // lower than what was seen: a gap
	same                 // nothing new but perhaps a request
	newer
)

// observe takes in a snapshot that has arrived by now.
func (s *sight) observe(now time.Duration, snap Snapshot) verdict {
	s.heard = now
	if s.replaced != "" && snap.Version == s.replaced {
		return stale
	}
	s.longest = max(s.longest, snap.Record.TTL)
	v := s.judge(snap)
	switch v {
	case newer:
		*s = sight{known: true, newest: snap, since: now, freeSince: now, heard: now, longest: s.longest}
	case same:
		if snap.Abandoned && !s.newest.Abandoned {
			s.freeSince = now
		}
		s.newest, s.hasGap = snap, false
	case lower:
		if !s.hasGap || !sameMark(s.gap, snap) {
			s.gapSince = now
		}
		s.gap, s.hasGap = snap, true
	}
	return v
}

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
		return same
	case order == 0 && !s.newest.Exists():
		return newer
	}
	return lower
}

// judgeMissing tells a record that was deleted properly, after the floor for new ones was raised, from one that
// vanished (S13).
func (s *sight) judgeMissing(snap Snapshot) verdict {
	switch floor := snap.Record.Token; {
	case floor < s.newest.Record.Token || floor == 0 && s.newest.Exists():
		return lower
	case !s.newest.Exists() && floor == s.newest.Record.Token:
		return same
	}
	return newer
}

// sameMark reports whether two snapshots bear the same mark, so that a count of one goes on with the other.
func sameMark(a, b Snapshot) bool {
	return a.Exists() == b.Exists() && a.Record.compare(b.Record) == 0 && a.Record.Session == b.Record.Session
}

// present is what the store is believed to hold.
func (s *sight) present() Snapshot {
	if s.hasGap {
		return s.gap
	}
	return s.newest
}

// token is the highest token seen.
func (s *sight) token() uint64 { return s.newest.Record.Token }

// conflicted notes that a write found another version than the expected one.
func (s *sight) conflicted(version string) { s.replaced = version }

// opening is when the seat is free, and from which state of the record it can be taken.
type opening struct {
	at     time.Duration
	base   Snapshot
	reason string
}

// openings returns the earliest moment at which the seat is free for the candidate id, as far as is known now. A gap
// counts as held for the longest lease ever seen: its lost leader may still trust itself. Nevertheless the newest
// record stays open on its own count, unless a conflict has shown that it is gone: a stale read must not delay.
func (s *sight) opening(id string) opening {
	first := s.openingOfNewest(id)
	if !s.hasGap {
		return first
	}
	second := opening{s.gapSince + s.longest, s.gap, "the record went back, and the longest lease seen has passed"}
	if s.newest.Version == s.replaced || second.at < first.at {
		return second
	}
	return first
}

func (s *sight) openingOfNewest(id string) opening {
	r := s.newest.Record
	switch {
	case !s.newest.Exists():
		return opening{s.since, s.newest, "there is no record"}
	case r.Vacant() && (r.Reserved == "" || r.Reserved == id):
		return opening{s.since, s.newest, "the seat is vacant"}
	case r.Vacant():
		return opening{s.since + r.TTL, s.newest, "the seat was kept for a candidate that did not come"}
	case s.newest.Abandoned:
		return opening{s.freeSince, s.newest, "the seat is abandoned"}
	}
	return opening{s.since + r.TTL, s.newest, "the leader was silent for a lease"}
}
