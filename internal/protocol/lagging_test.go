package protocol

import (
	"testing"
	"time"
)

// serve answers the calls of a leader from time to time on: writes by the register, reads by what it held lag ago.
func (s *script) serve(from, to, lag time.Duration, store *Snapshot, past func(time.Duration) Snapshot) {
	for now := from; now < to; now += 10 * time.Millisecond {
		s.step(at(now), Input{Kind: Tick})
		for {
			if e, ok := s.did(Write); ok {
				if e.Base.Version != store.Version {
					s.step(at(now), Input{Kind: Wrote, Outcome: Conflict})
					continue
				}
				*store = written(store.Version+"+", e)
				s.step(at(now), Input{Kind: Wrote, Snapshot: *store})
			} else if _, ok := s.did(Load); ok {
				s.step(at(now), Input{Kind: Loaded, Snapshot: past(now - lag)})
			} else {
				break
			}
		}
	}
}

// L3: reads that lag behind by a second end no term when an operator touches the record, whatever they show.
func TestL3LaggingReadsDeposeNobody(t *testing.T) {
	for name, older := range map[string]func(won Snapshot) Snapshot{
		"the state before the touch":   func(won Snapshot) Snapshot { return won },
		"an earlier renewal":           func(won Snapshot) Snapshot { won.Version, won.Record.Renewals = "v0", 0; return won },
		"a time before the term":       func(Snapshot) Snapshot { return held("old", 0, 5) },
		"a time before all is missing": func(Snapshot) Snapshot { return Snapshot{} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, nil)
			won := s.leads()
			s.attempts.numbers = append([]uint64{0}, s.attempts.numbers...) // an earlier renewal
			touched := won
			touched.Version, touched.Record.Request = "touched", Request{Token: 99}
			store := touched
			began := 4 * time.Second
			s.serve(began, 30*time.Second, time.Second, &store, func(then time.Duration) Snapshot {
				if then < began+time.Second {
					return older(won)
				}
				return store
			})
			if s.State() != Leading || store.Record.Request.Token != 99 {
				t.Errorf("the leader is %v, the record %+v", s.State(), store.Record)
			}
		})
	}
}

// S1: a bid that landed while its candidate stopped, and was written over since, is not led by, even if the outcome of
// that write is unknown and a read that lags shows the bid again.
func TestS1BidThatWasGivenBackIsNotLedBy(t *testing.T) {
	for _, outcome := range []Outcome{Unknown, OK} {
		s := newScript(t, nil)
		bid := written("v1", s.bids())
		s.step(at(time.Second), Input{Kind: Wrote, Outcome: Unknown})
		s.step(at(time.Second), Input{Kind: Stop})
		s.step(at(2*time.Second), Input{Kind: Tick})
		s.must(Load)
		s.step(at(2*time.Second), Input{Kind: Loaded, Snapshot: bid})
		release := s.must(Write)
		s.step(at(2*time.Second), Input{Kind: Wrote, Outcome: outcome, Snapshot: written("v2", release)})
		for now := 2 * time.Second; s.State() != Off; now += 100 * time.Millisecond {
			if _, ok := s.did(Load); ok {
				s.step(at(now), Input{Kind: Loaded, Outcome: Unknown})
			}
			s.step(at(now), Input{Kind: Tick})
		}
		now := at(3 * time.Second)
		s.step(now, Input{Kind: Stand})
		if _, ok := s.did(Load); !ok {
			s.step(now, Input{Kind: Tick})
		}
		s.step(now, Input{Kind: Loaded, Snapshot: bid})
		if s.State() == Leading {
			t.Errorf("after a release with the outcome %v it leads by the bid again", outcome)
		}
	}
}

// L1: a look that was sent before a push came does not show that what was pushed is past.
func TestL1LookThatAPushHasCrossedIsRepeated(t *testing.T) {
	s := newScript(t, func(c *Config) { c.Watch = true })
	free := Snapshot{Version: "v2", Record: Record{Token: 5, Renewals: 3, TTL: storyTTL}}
	paused := free
	paused.Version, paused.Record.Paused = "v1", true
	s.step(at(0), Input{Kind: Stand})
	s.step(at(0), Input{Kind: Pushed, Snapshot: paused})
	now := time.Duration(0)
	for sent := false; !sent && now < 3*storyTTL; _, sent = s.did(Load) {
		now += storyTTL / 100
		s.step(at(now), Input{Kind: Tick})
	}
	s.step(at(now), Input{Kind: Pushed, Snapshot: free})
	s.step(at(now), Input{Kind: Loaded, Snapshot: paused})
	s.must(Load)
	s.step(at(now), Input{Kind: Loaded, Snapshot: free})
	s.must(Write)
}

// L4: an older state of the leader's own term to which the store has gone back is renewed from, if it stays.
func TestL4OwnTermGoesOnFromWhatTheStoreWentBackTo(t *testing.T) {
	s := newScript(t, nil)
	won := s.leads()
	s.attempts.numbers = append([]uint64{0}, s.attempts.numbers...) // an earlier renewal
	back := won
	back.Version = "restored"
	back.Record.Renewals = 0
	store := back
	s.serve(4*time.Second, 40*time.Second, 0, &store, func(time.Duration) Snapshot { return store })
	if s.State() != Leading || store.Record.Token != won.Record.Token || store.Record.Renewals <= won.Record.Renewals {
		t.Errorf("the leader is %v, the record %+v", s.State(), store.Record)
	}
}

// L1: a watch that comes and goes, each time with a word, puts off no poll.
func TestL1FlappingWatchPutsOffNoPoll(t *testing.T) {
	for name, words := range map[string][]Kind{"only interruptions": {WatchLost}, "by turns": {Pushed, WatchLost}} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(c *Config) { c.Watch = true })
			state := held("v1", 5, 10)
			s.step(at(0), Input{Kind: Stand})
			s.step(at(0), Input{Kind: Pushed, Snapshot: state})
			loads := 0
			for now := time.Duration(0); now < 8*time.Second; now += 50 * time.Millisecond {
				s.step(at(now), Input{Kind: words[int(now/(50*time.Millisecond))%len(words)], Snapshot: state})
				if _, ok := s.did(Load); ok {
					loads++
					s.step(at(now), Input{Kind: Loaded, Snapshot: state})
				}
			}
			if loads < 3 {
				t.Errorf("%d looks in %v, the poll interval is %v", loads, 8*time.Second, s.cfg.PollEvery)
			}
		})
	}
}

// L4: a watch that goes on repeating a state from before a pause was lifted hides that from nobody for ever, and one
// that does not costs nobody a call.
func TestL4RepeatedPauseIsFoundToBeLifted(t *testing.T) {
	paused := Snapshot{Version: "v1", Record: Record{Token: 5, Renewals: 3, TTL: storyTTL, Paused: true}}
	lifted := paused
	lifted.Version, lifted.Record.Paused = "v2", false
	s := newScript(t, func(c *Config) { c.Watch, c.PriorityDelay = true, c.TTL })
	s.step(at(0), Input{Kind: Stand})
	s.step(at(0), Input{Kind: Pushed, Snapshot: paused})
	s.step(at(0), Input{Kind: Pushed, Snapshot: lifted})
	for now := time.Duration(0); now < 3*storyTTL; now += 50 * time.Millisecond {
		s.step(at(now), Input{Kind: Pushed, Snapshot: paused})
		for {
			if _, ok := s.did(Load); !ok {
				break
			}
			s.step(at(now), Input{Kind: Loaded, Snapshot: lifted})
		}
		if _, ok := s.did(Write); ok {
			return
		}
	}
	t.Error("it never bids")
}
