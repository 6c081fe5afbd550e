package memcached

import (
	"sync"

	"github.com/tenure-go/tenure"
)

// Loss is a record that the server has dropped, or that somebody has deleted or replaced by an earlier one.
type Loss struct {
	// Election is whose record is gone.
	Election string
	// Token is the highest that this Store has seen of it. Whoever bids through this Store next gets a higher one.
	Token uint64
}

// seen is what a Store knows of records that the server may forget. It grows with the elections that have had one.
type seen struct {
	observe func(Loss) // nil if nobody wants to know

	mu     sync.Mutex
	clock  uint64 // counts calls and sightings, to tell which came first
	last   map[string]sighting
	losses uint64
}

// sighting is the last that was seen of a record.
type sighting struct {
	there           bool
	token, renewals uint64
	highest         uint64 // token
	at              uint64
}

func newSeen(observe func(Loss)) *seen {
	return &seen{observe: observe, last: make(map[string]sighting)}
}

// now marks the beginning of a call.
func (s *seen) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	return s.clock
}

// see notes what a call that began at since has found, and returns it; for what is missing, with the highest token.
func (s *seen) see(election string, since uint64, found tenure.Snapshot) tenure.Snapshot {
	highest, lost := s.note(election, since, found)
	if lost && s.observe != nil {
		s.observe(Loss{election, highest})
	}
	if !found.Exists() {
		found.Record.Token = highest
	}
	return found
}

// note reports whether a record was lost: it is less than what was known when the call began, and by itself none is
// ever deleted or goes back.
func (s *seen) note(election string, since uint64, found tenure.Snapshot) (highest uint64, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.last[election]
	if !known && !found.Exists() {
		return 0, false
	}
	now := sighting{there: found.Exists(), token: found.Record.Token, renewals: found.Record.Renewals}
	now.highest = max(before.highest, now.token)
	if before.at > since { // a later sighting has overtaken this one
		before.highest = now.highest
		s.last[election] = before
		return now.highest, false
	}
	s.clock++
	now.at = s.clock
	s.last[election] = now
	if lost = now.below(before); lost {
		s.losses++
	}
	return now.highest, lost
}

// below reports whether a record that was there has gone, or gone back.
func (s sighting) below(before sighting) bool {
	switch {
	case !before.there:
		return false
	case !s.there || s.token != before.token:
		return !s.there || s.token < before.token
	}
	return s.renewals < before.renewals
}

// lost returns how many losses were seen.
func (s *seen) lost() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.losses
}
