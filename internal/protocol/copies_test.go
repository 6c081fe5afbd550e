package protocol

import (
	"math/rand/v2"
	"testing"
	"time"
)

// copyOf makes a copy of the process of a, as a snapshot does that is restored beside it: same memory, fresh entropy.
func (a *actor) copyOf() *actor {
	b := &actor{stage: a.stage, mono: a.mono, wall: a.wall, deaf: a.deaf}
	b.Machine = a.Clone(rand.NewPCG(7, 7), rand.NewPCG(8, uint64(len(a.stage.actors))))
	a.stage.actors = append(a.stage.actors, b)
	return b
}

// settle lets time go by without a look at who leads.
func (s *stage) settle(d time.Duration) {
	for end := s.now + d; s.now < end; s.now += 50 * time.Millisecond {
		for _, a := range s.actors {
			a.beat()
		}
	}
}

// S1: two copies of a leader have the same ID, session and token. A renewal of one ends the term of the other, and the
// copy that lost is an ordinary candidate afterwards.
func TestS1CopiesOfALeaderFindEachOtherOut(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	b := a.copyOf()
	s.settle(a.cfg.TTL) // one lease may pass
	first, second := a, b
	if b.trusted() {
		first, second = b, a
	}
	s.expect(first)
	if second.count(Copied) != 1 || first.count(Copied) != 0 || a.Session() == b.Session() {
		t.Errorf("found out %d and %d times, sessions %s and %s",
			first.count(Copied), second.count(Copied), a.Session(), b.Session())
	}
	s.pass(3 * storyTTL) // checks all the while that no two lead
	s.expect(first)
	first.do(Input{Kind: Stop})
	s.pass(storyTTL)
	s.expect(second)
}

// S1: the same for copies of a candidate that stands by: one bid lands, and the other copy does not take it for its
// own.
func TestS1CopiesOfACandidateDoNotShareABid(t *testing.T) {
	s := newStage(t)
	leader, a := s.actor("leader").leads(), s.actor("a").stands()
	b := a.copyOf()
	leader.do(Input{Kind: Stop})
	s.pass(3 * storyTTL)
	if a.trusted() == b.trusted() {
		t.Errorf("trusted: %v and %v", a.trusted(), b.trusted())
	}
}

// A copy that is stopped gives up nothing of the other's, once the other has renewed.
func TestS5CopyReleasesNothingOfTheOther(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	b := a.copyOf()
	b.frozen = true
	for range 100 {
		s.now += 50 * time.Millisecond
		a.beat()
	}
	b.do(Input{Kind: Stop})
	b.frozen = false
	s.settle(storyTTL)
	s.expect(a)
}
