package measure

import (
	"time"

	"github.com/tenure-go/tenure"
)

// seat is what was seen last of an election, to tell how long a hand-over takes.
type seat struct {
	known  bool
	record tenure.Record
	sign   time.Time // of the leader's life or, once it has gone, of its going
}

// Seen takes in a state of an election's record.
func (r *Recorder) Seen(election string, s tenure.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seat := r.seats[election]
	if seat == nil || seat.knows(s.Record) {
		return
	}
	if after, took, over := seat.see(s.Record, time.Now()); over {
		r.sink.Observe(HandoverDuration, took.Seconds(), election, after)
	}
}

// knows reports whether nothing is new about a record, or it is an older one: replies and pushes overtake each other.
func (s *seat) knows(r tenure.Record) bool {
	last := s.record
	switch {
	case !s.known || r.Token > last.Token:
		return false
	case r.Token < last.Token:
		return true
	case last.Vacant():
		return !r.Vacant() || r.Pause == nil || last.Pause != nil // nobody comes back within a term
	}
	return !r.Vacant() && r.Renewals <= last.Renewals
}

// see takes in a newer record, and tells how long a hand-over took that it ends. A vacancy that an operator keeps is
// none.
func (s *seat) see(r tenure.Record, now time.Time) (after string, took time.Duration, over bool) {
	last, took := s.record, now.Sub(s.sign)
	over = s.known && last.Token > 0 && r.Token > last.Token && !r.Vacant() && last.Pause == nil
	s.known, s.record, s.sign = true, r, now
	if !last.Vacant() && took >= last.TTL {
		return AfterSilence, took, over
	}
	return AfterRelease, took, over // that was not seen, perhaps: before its lease has run out nobody else can follow
}
