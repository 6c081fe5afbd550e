package tenureclientgo

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/tenure-go/tenure"
)

// sight is what a lock has seen of its election.
type sight struct {
	session, identity string

	known   bool
	last    tenure.Snapshot
	mark    string        // of what was seen last
	since   time.Time     // first sight of the mark
	highest uint64        // token
	longest time.Duration // TTL
}

// take notes a state of the record. A new mark begins the count anew, a mere request to the leader does not.
func (s *sight) take(seen tenure.Snapshot, now time.Time) {
	r := seen.Record
	s.known, s.last = true, seen
	s.longest = max(s.longest, r.TTL)
	mark := fmt.Sprintf("%s/%d/%d", r.Session, r.Token, r.Renewals)
	if r.Vacant() {
		mark += fmt.Sprintf("/%t/%q", r.Pause != nil, r.Reserved)
	}
	if s.lost() {
		mark = "lost" // not even a record that changes back and forth begins it anew
	}
	if seen.Abandoned {
		mark += "/abandoned"
	}
	if mark != s.mark {
		s.mark, s.since = mark, now
	}
	s.highest = max(s.highest, r.Token)
}

// lost reports whether the record vanished or went back: the leader of what was lost may still trust itself.
func (s *sight) lost() bool { return s.last.Record.Token < s.highest }

// ours reports whether the record is of this lock. The name alone proves nothing.
func (s *sight) ours() bool { return !s.lost() && s.last.Record.Session == s.session }

// hold returns who keeps the seat, and for how long after first sight; nobody if it can be taken at once.
func (s *sight) hold() (holder string, span time.Duration) {
	r := s.last.Record
	switch {
	case s.lost():
		return "the leader of a record that was lost", s.longest
	case s.ours():
		return s.identity, r.TTL
	case r.Vacant() && r.Pause != nil:
		return "nobody: the election is paused", tenure.MaxTTL
	case r.Vacant() && r.Reserved != "" && r.Reserved != s.identity:
		return r.Reserved, r.TTL
	case r.Vacant(), s.last.Abandoned:
		return "", 0
	case r.Leader == s.identity:
		return r.Leader + " (another process)", r.TTL
	}
	return r.Leader, r.TTL
}

// free reports whether a new term may begin. The elector has counted too: this is for what it cannot know.
func (s *sight) free(now time.Time) bool {
	holder, span := s.hold()
	return s.last.Record.Pause == nil && (holder == "" || s.ours() || now.Sub(s.since) >= span)
}

// show puts the record into client-go's terms. Whole seconds never make the wait shorter.
func (s *sight) show() *resourcelock.LeaderElectionRecord {
	holder, span := s.hold()
	r := s.last.Record
	return &resourcelock.LeaderElectionRecord{
		HolderIdentity:       holder,
		LeaseDurationSeconds: int((span + time.Second - 1) / time.Second),
		AcquireTime:          metav1.NewTime(r.ElectedAt),
		RenewTime:            metav1.NewTime(r.RenewedAt),
		LeaderTransitions:    int(min(r.Token, math.MaxInt32)),
	}
}
