package protocol

import (
	"testing"
	"time"
)

// L5: where the store rounds the TTL of two candidates, neither can lead. One that found that out leaves the seat alone
// for a TTL, also when the other has bid and given it back meanwhile.
func TestL5CandidatesWhoseTTLTheStoreRoundsTakeNoTurns(t *testing.T) {
	s := newScript(t, func(c *Config) { c.Watch = true })
	now := time.Second
	s.step(at(now), Input{Kind: Stand})
	s.step(at(now), Input{Kind: Pushed})
	rounded := written("v1", s.must(Write))
	rounded.Record.TTL -= time.Second
	s.step(at(now), Input{Kind: Wrote, Snapshot: rounded})
	s.step(at(now), Input{Kind: Wrote, Snapshot: written("v2", s.must(Write))})
	other := held("v3", 9, 1<<30)
	s.step(at(now+time.Second), Input{Kind: Pushed, Snapshot: other})
	other.Version, other.Record.Leader, other.Record.Session = "v4", "", ""
	other.Record.Renewals++
	s.step(at(now+time.Second), Input{Kind: Pushed, Snapshot: other})
	s.mustNot(Write)
	s.step(at(now+s.cfg.TTL), Input{Kind: Tick})
	if e := s.must(Write); e.Purpose != Bid {
		t.Errorf("after a TTL it does %v", e.Purpose)
	}
}
