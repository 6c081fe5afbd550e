package protocol

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// script steps one machine by hand, so that a test decides when each reply comes and what it says.
type script struct {
	*Machine
	t   *testing.T
	out []Effect // of the last step
}

func newScript(t *testing.T, change func(*Config)) *script {
	c := testConfig("a")
	if change != nil {
		change(&c)
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	return &script{Machine: New(c, rand.NewPCG(1, 2), rand.NewPCG(3, 4)), t: t}
}

func (s *script) step(now clock.Reading, in Input) { s.out = s.Step(now, in) }

// did returns the effect of the last step that does this.
func (s *script) did(do Do) (Effect, bool) {
	for _, e := range s.out {
		if e.Do == do {
			return e, true
		}
	}
	return Effect{}, false
}

// must returns the effect of the last step that does this, which it has to have.
func (s *script) must(do Do) Effect {
	s.t.Helper()
	e, ok := s.did(do)
	if !ok {
		s.t.Fatalf("as a %v it does not %v, but %v", s.State(), do, s.out)
	}
	return e
}

func (s *script) mustNot(do Do) {
	s.t.Helper()
	if e, ok := s.did(do); ok {
		s.t.Fatalf("it does %v: %+v", do, e)
	}
}

func written(version string, e Effect) Snapshot { return Snapshot{Version: version, Record: e.Record} }

// bids has the machine stand over a missing record, and returns its bid, sent at one second.
func (s *script) bids() Effect {
	s.t.Helper()
	s.step(at(time.Second), Input{Kind: Stand})
	s.must(Load)
	s.step(at(time.Second), Input{Kind: Loaded})
	return s.must(Write)
}

// leads has the machine win a bid that was sent at one second.
func (s *script) leads() Snapshot {
	s.t.Helper()
	won := written("v1", s.bids())
	s.step(at(time.Second), Input{Kind: Wrote, Snapshot: won})
	s.must(Elected)
	return won
}

// runUntil lets time pass, and calls that it makes fail with the outcome.
func (s *script) runUntil(from, to time.Duration, outcome Outcome) (calls int) {
	for now := from; now <= to; now += 10 * time.Millisecond {
		wake, ok := s.Wake()
		for range 1000 {
			if !ok || wake > now {
				break
			}
			s.step(at(now), Input{Kind: Tick})
			calls += s.fail(now, outcome)
			wake, ok = s.Wake()
		}
	}
	return calls
}

func (s *script) fail(now time.Duration, outcome Outcome) (calls int) {
	for range 1000 {
		kind := Loaded
		if _, ok := s.did(Write); ok {
			kind = Wrote
		} else if _, ok := s.did(Load); !ok {
			return calls
		}
		calls++
		s.step(at(now), Input{Kind: kind, Outcome: outcome})
	}
	return calls
}

func TestS3LeaseCountsFromBeforeTheSending(t *testing.T) {
	s := newScript(t, nil)
	bid := s.bids()
	s.step(at(3*time.Second), Input{Kind: Wrote, Snapshot: written("v1", bid)})
	end := time.Second + s.cfg.Span()
	if e := s.must(Elected); e.Until != at(end) {
		t.Errorf("trusted until %v, not %v", e.Until, at(end))
	}
	if !s.Trusted(at(end-1)) || s.Trusted(at(end)) {
		t.Error("the lease does not count from the sending")
	}
}

func TestS3LateReplyIsNoWin(t *testing.T) {
	s := newScript(t, nil)
	bid := s.bids()
	s.step(at(time.Second+s.cfg.Span()), Input{Kind: Wrote, Snapshot: written("v1", bid)})
	s.mustNot(Elected)
	if e := s.must(Write); e.Purpose != Bid || e.Token != bid.Token+1 {
		t.Errorf("its own idle record is followed by %v of term %d", e.Purpose, e.Token)
	}
}

func TestRevokedTermEndsAtOnceAndGivesTheSeatBack(t *testing.T) {
	s := newScript(t, nil)
	won := s.leads()
	won.Revoked = true
	s.step(at(2*time.Second), Input{Kind: Pushed, Snapshot: won})
	if e := s.must(Ended); e.Cause != Revoked || s.Trusted(at(2*time.Second)) {
		t.Errorf("the end: %v", e)
	}
	s.step(at(2*time.Second), Input{Kind: WorkChange, Work: NoWork})
	if e := s.must(Write); e.Purpose != Release || !e.Record.Vacant() || e.Record.Token != won.Record.Token {
		t.Errorf("what follows the end: %v", e)
	}
}

func TestRevokedTermOfAnotherIsNotOurs(t *testing.T) {
	s := newScript(t, nil)
	won := s.leads()
	for name, change := range map[string]func(*Record){
		"session": func(r *Record) { r.Session += "x" },
		"token":   func(r *Record) { r.Token-- },
	} {
		other := won
		other.Revoked = true
		change(&other.Record)
		s.attempts.numbers = append([]uint64{0}, s.attempts.numbers...)
		other.Record.Renewals = 0 // an old state, which alone deposes nobody
		s.step(at(2*time.Second), Input{Kind: Pushed, Snapshot: other})
		if s.State() != Leading {
			t.Errorf("with another %s the term ends", name)
		}
	}
}

func TestS4AnyClockEndsTheTrust(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	for name, now := range map[string]clock.Reading{
		"monotonic": {Mono: time.Minute, Wall: time.Second, Boot: time.Second},
		"wall":      {Mono: time.Second, Wall: time.Minute, Boot: time.Second},
		"boot":      {Mono: time.Second, Wall: time.Second, Boot: time.Minute},
	} {
		if s.Trusted(now) {
			t.Errorf("the %s clock alone ran on, and it still trusts itself", name)
		}
	}
}

func TestS4TrustDoesNotReturn(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	s.step(at(2*time.Second), Input{Kind: Distrust}) // somebody read a clock that was set back since
	if e := s.must(Ended); e.Cause != LeaseExpired || s.Trusted(at(2*time.Second)) {
		t.Errorf("cause %v, trusted %v", e.Cause, s.Trusted(at(2*time.Second)))
	}
}

func TestS7RenewalInDoubtCountsOnceItIsSeen(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	s.step(at(4400*time.Millisecond), Input{Kind: Tick})
	first := s.must(Write)
	s.step(at(5*time.Second), Input{Kind: Wrote, Outcome: Unknown})
	if second := s.must(Write); second.Record.Renewals == first.Record.Renewals {
		t.Fatalf("number %d is used twice", first.Record.Renewals)
	}
	s.step(at(6*time.Second), Input{Kind: Wrote, Outcome: Conflict})
	s.must(Load)
	s.step(at(6*time.Second), Input{Kind: Loaded, Snapshot: written("v2", first)})
	if e := s.must(Extended); e.Until != at(4400*time.Millisecond+s.cfg.Span()) {
		t.Errorf("trusted until %v", e.Until)
	}
}

func TestS8OverrunWorkIsNeverReleasedAndHoldsUpTheNextCandidacy(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	s.step(at(2*time.Second), Input{Kind: Stop})
	s.step(at(2*time.Second), Input{Kind: WorkChange, Work: Running})
	s.step(at(4*time.Second), Input{Kind: Tick})
	s.must(Overran)
	s.must(Done)
	s.mustNot(Write)
	s.step(at(5*time.Second), Input{Kind: StandOnce})
	if s.State() != Overrun {
		t.Fatalf("with unreturned work it is %v", s.State())
	}
	s.step(at(6*time.Second), Input{Kind: WorkChange, Work: NoWork})
	s.must(Load)
	s.mustNot(Done)
}

func TestS8HandedOutLeadershipGetsItsWholeDrain(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	woken := time.Second + s.cfg.LeaseSpan() // a pause has eaten the lease
	s.step(at(woken), Input{Kind: Tick})
	s.must(Ended)
	s.step(at(woken), Input{Kind: WorkChange, Work: HandedOut})
	s.mustNot(Write)
	s.step(at(woken+s.cfg.Drain-1), Input{Kind: Tick})
	s.mustNot(Write)
	s.step(at(woken+s.cfg.Drain), Input{Kind: Tick})
	if e := s.must(Write); e.Purpose != Release {
		t.Errorf("the drain is followed by a %v", e.Purpose)
	}
}

func TestS9TTLThatTheStoreRoundsIsNotLedBy(t *testing.T) {
	s := newScript(t, nil)
	stored := written("v1", s.bids())
	stored.Record.TTL -= time.Second
	s.step(at(time.Second), Input{Kind: Wrote, Snapshot: stored})
	s.mustNot(Elected)
	if e := s.must(Write); e.Purpose != Release {
		t.Errorf("the seat that it cannot lead from is not given back: %v", e.Purpose)
	}
}

func TestS11DoneWaitsForTheCallInFlight(t *testing.T) {
	s := newScript(t, func(c *Config) { c.Release = false })
	s.leads()
	s.step(at(4400*time.Millisecond), Input{Kind: Tick})
	renewal := s.must(Write)
	s.step(at(4500*time.Millisecond), Input{Kind: Stop})
	s.step(at(4500*time.Millisecond), Input{Kind: WorkChange, Work: NoWork})
	s.must(CancelCall)
	s.mustNot(Done)
	s.step(at(5*time.Second), Input{Kind: Wrote, Snapshot: written("v2", renewal)})
	s.must(Done)
	s.step(at(6*time.Second), Input{Kind: Pushed, Snapshot: held("v9", 9, 1)})
	if len(s.out) > 0 {
		t.Errorf("after it was done a push has effects: %v", s.out)
	}
}

func TestS11StopMovesTheVersionOfABidInDoubt(t *testing.T) {
	for _, release := range []bool{true, false} {
		t.Run(fmt.Sprint("release ", release), func(t *testing.T) {
			s := newScript(t, func(c *Config) { c.Release = release })
			s.bids()
			s.step(at(2*time.Second), Input{Kind: Wrote, Outcome: Unknown})
			s.step(at(2*time.Second), Input{Kind: Stop})
			s.step(at(3*time.Second), Input{Kind: Tick})
			s.must(Load)
			s.step(at(3*time.Second), Input{Kind: Loaded})
			if e := s.must(Write); e.Purpose != Release || e.Base.Version != "" {
				t.Errorf("it does not move the version: %+v", e)
			}
		})
	}
}

// The same over its own idle record, with release on stop off: that must not hide the doubt.
func TestS11StopMovesTheVersionOfItsOwnIdleRecord(t *testing.T) {
	s := newScript(t, func(c *Config) { c.Release = false })
	bid := s.bids()
	s.step(at(time.Second+s.cfg.Span()), Input{Kind: Wrote, Snapshot: written("v1", bid)})
	if e := s.must(Write); e.Purpose != Bid {
		t.Fatalf("its idle record is followed by a %v", e.Purpose)
	}
	s.step(at(10*time.Second), Input{Kind: Wrote, Outcome: Unknown})
	s.step(at(10*time.Second), Input{Kind: Stop})
	s.step(at(11*time.Second), Input{Kind: Tick})
	s.must(Load)
	s.step(at(11*time.Second), Input{Kind: Loaded, Snapshot: written("v1", bid)})
	if e := s.must(Write); e.Purpose != Release || e.Base.Version != "v1" {
		t.Errorf("it leaves its bid in doubt: %+v", e)
	}
}

// S13, L4: a lone candidate whose record the store has lost waits for a lease, and then leads again.
func TestS13OwnRecordThatIsGoneIsWaitedForAndBidOver(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	s.step(at(4400*time.Millisecond), Input{Kind: Tick})
	s.step(at(4400*time.Millisecond), Input{Kind: Wrote, Outcome: Conflict})
	s.must(Load)
	s.step(at(4400*time.Millisecond), Input{Kind: Loaded})
	first := 4400 * time.Millisecond
	ended := first
	for s.State() == Leading && ended < 8*time.Second {
		ended += 100 * time.Millisecond
		s.step(at(ended), Input{Kind: Tick})
		if _, ok := s.did(Load); ok {
			s.step(at(ended), Input{Kind: Loaded})
		}
	}
	if e := s.must(Ended); e.Cause != Deposed || ended > first+storyTTL/4 {
		t.Fatalf("the term ends at %v for cause %v", ended, e.Cause)
	}
	s.step(at(ended), Input{Kind: WorkChange, Work: NoWork})
	for now := ended; ; now += 100 * time.Millisecond {
		if e, ok := s.did(Write); ok {
			if now < first+storyTTL || e.Base.Exists() || e.Token != 2 {
				t.Errorf("at %v it bids %+v", now, e)
			}
			return
		}
		if now > first+storyTTL+time.Second {
			t.Fatal("it never bids again")
		}
		if _, ok := s.did(Load); ok {
			s.step(at(now), Input{Kind: Loaded})
			continue
		}
		s.step(at(now), Input{Kind: Tick})
	}
}

// L4: the store has gone back to a version that a conflict disproved. Two looks may be old states, the third is not.
func TestL4DisprovedVersionIsBelievedWhenTheStoreInsists(t *testing.T) {
	s := newScript(t, nil)
	vacant := Snapshot{Version: "v5", Record: Record{Token: 5, Renewals: 3, TTL: storyTTL}}
	s.step(at(0), Input{Kind: Stand})
	s.step(at(0), Input{Kind: Loaded, Snapshot: vacant})
	s.must(Write)
	s.step(at(0), Input{Kind: Wrote, Outcome: Conflict})
	for now := time.Duration(0); now < 2*storyTTL; now += 50 * time.Millisecond {
		if _, ok := s.did(Write); ok {
			if now < storyTTL {
				t.Errorf("it bids at %v, though what had replaced the version may still be led by", now)
			}
			return
		}
		if _, ok := s.did(Load); ok {
			s.step(at(now), Input{Kind: Loaded, Snapshot: vacant})
		} else {
			s.step(at(now), Input{Kind: Tick})
		}
	}
	t.Error("it reads for ever and never bids")
}

func TestPausedStateIsNotBidFromInAGap(t *testing.T) {
	s := newScript(t, nil)
	s.step(at(0), Input{Kind: Stand})
	paused := Snapshot{Version: "v5", Record: Record{Token: 5, Renewals: 3, TTL: storyTTL, Paused: true}}
	s.step(at(0), Input{Kind: Loaded, Snapshot: paused})
	s.step(at(3*time.Second), Input{Kind: Tick})
	s.must(Load)
	s.step(at(3*time.Second), Input{Kind: Loaded}) // a stale read, from before there was a record
	s.mustNot(Write)
}

func TestCandidacyForOneTermGoesOnAfterVacatingAnIdleRecord(t *testing.T) {
	s := newScript(t, nil)
	s.step(at(time.Second), Input{Kind: StandOnce})
	s.step(at(time.Second), Input{Kind: Loaded})
	bid := s.must(Write)
	s.step(at(time.Second), Input{Kind: Unhealthy})
	s.step(at(2*time.Second), Input{Kind: Wrote, Snapshot: written("v1", bid)})
	s.mustNot(Elected)
	release := s.must(Write)
	s.step(at(2*time.Second), Input{Kind: Wrote, Snapshot: written("v2", release)})
	s.mustNot(Done)
	s.step(at(3*time.Second), Input{Kind: Healthy})
	if e := s.must(Write); e.Purpose != Bid {
		t.Errorf("healthy again, it does a %v", e.Purpose)
	}
}

// L3: whatever pause the back-off asks for, a lost renewal leaves time for another call as Config.Check promises.
func TestL3PauseLeavesTimeForAnotherRenewal(t *testing.T) {
	s := newScript(t, func(c *Config) {
		c.Drain, c.CallTimeout = c.TTL/100, c.TTL/20
		c.RenewEvery = c.Span() - 2*c.CallTimeout
		c.Backoff = Backoff{Initial: c.TTL, Max: c.TTL, Factor: 1}
	})
	s.leads()
	due := time.Second + s.cfg.RenewEvery
	s.step(at(due), Input{Kind: Tick})
	lost := s.must(Write)
	now := due + lost.Timeout
	s.step(at(now), Input{Kind: Wrote, Outcome: Unknown})
	if next := s.must(Write); next.Timeout != s.cfg.CallTimeout {
		t.Errorf("the next renewal has %v of its %v", next.Timeout, s.cfg.CallTimeout)
	}
}

// L3: a store that refuses one renewal and asks for a long pause is obeyed as far as the lease allows.
func TestL3RefusalWithALongPauseLeavesTimeForAnotherRenewal(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	due := time.Second + s.cfg.RenewEvery
	s.step(at(due), Input{Kind: Tick})
	s.must(Write)
	s.step(at(due), Input{Kind: Wrote, Outcome: NotApplied, RetryAfter: time.Hour})
	s.mustNot(Write)
	wake, _ := s.Wake()
	for wake < due+s.cfg.TTL {
		s.step(at(wake), Input{Kind: Tick})
		if e, ok := s.did(Write); ok {
			if e.Timeout != s.cfg.CallTimeout {
				t.Errorf("the next renewal has %v of its %v", e.Timeout, s.cfg.CallTimeout)
			}
			return
		}
		wake, _ = s.Wake()
	}
	t.Error("the lease ends without another renewal")
}

// L5: without growth in the back-off, or with all of it left to chance, a long outage still is no storm.
func TestL5LongOutageIsNoStormWhateverTheBackOff(t *testing.T) {
	s := newScript(t, func(c *Config) {
		c.Backoff = Backoff{Initial: c.TTL / 1000, Max: c.TTL / 1000, Factor: 1, Jitter: 1}
	})
	s.step(at(0), Input{Kind: Stand})
	s.fail(0, Unknown)
	s.runUntil(0, 10*storyTTL, Unknown)
	if calls := s.runUntil(10*storyTTL, 20*storyTTL, Unknown); calls > 110 || calls < 50 {
		t.Errorf("%d calls in ten TTLs", calls)
	}
}

// S8: a wait that protects others counts by the clock that nobody sets.
func TestS8WallClockSetForwardEndsNoDrain(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	s.step(at(2*time.Second), Input{Kind: Resign})
	s.step(at(2*time.Second), Input{Kind: WorkChange, Work: HandedOut})
	skewed := func(d time.Duration) clock.Reading {
		now := at(d)
		now.Wall += time.Hour
		now.Boot += time.Hour
		return now
	}
	s.step(skewed(2*time.Second+s.cfg.Drain-1), Input{Kind: Tick})
	s.mustNot(Write)
	s.step(skewed(2*time.Second+s.cfg.Drain), Input{Kind: Tick})
	if e := s.must(Write); e.Purpose != Release {
		t.Errorf("the drain is followed by a %v", e.Purpose)
	}
}

// S8: a function that returns after a jump of the wall clock has ended its part of the drain leaves the others theirs.
func TestS8WallClockSetForwardLeavesOthersTheirDrain(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	skewed := func(d time.Duration) clock.Reading {
		now := at(d)
		now.Wall += time.Hour
		return now
	}
	s.step(skewed(2*time.Second), Input{Kind: Distrust})
	s.step(skewed(2*time.Second), Input{Kind: WorkChange, Work: Running})
	s.must(Overran)
	s.step(skewed(2*time.Second+s.cfg.Drain/2), Input{Kind: WorkChange, Work: HandedOut})
	s.step(skewed(2*time.Second+s.cfg.Drain-1), Input{Kind: Tick})
	s.mustNot(Write)
	if wake, ok := s.Wake(); !ok || wake != skewed(2*time.Second+s.cfg.Drain).Mono {
		t.Errorf("it wakes at %v, %v", wake, ok)
	}
	s.step(skewed(2*time.Second+s.cfg.Drain), Input{Kind: Tick})
	if s.State() == Overrun {
		t.Error("it waits for the drain that has passed")
	}
}

// Who asked as the term ended and got a no has set the mark still. It keeps nobody from standing.
func TestLateMarkKeepsNobodyFromStanding(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	s.step(at(time.Second), Input{Kind: Distrust})
	s.step(at(time.Second), Input{Kind: WorkChange, Work: NoWork})
	s.step(at(time.Second), Input{Kind: Wrote, Snapshot: written("v2", s.must(Write))})
	s.step(at(time.Second), Input{Kind: WorkChange, Work: HandedOut})
	if s.State() != Standing || s.work != NoWork {
		t.Errorf("%v with work %v", s.State(), s.work)
	}
}

// S8: a candidate that is started within the drain of its last term waits for the rest of it.
func TestS8StartWithinTheDrain(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	ended := 2 * time.Second
	s.step(at(ended), Input{Kind: Stop})
	s.step(at(ended), Input{Kind: WorkChange, Work: NoWork})
	s.step(at(ended), Input{Kind: Wrote, Snapshot: written("v2", s.must(Write))})
	s.step(at(ended), Input{Kind: WorkChange, Work: HandedOut})
	s.step(at(ended), Input{Kind: Stand})
	if s.State() != Overrun {
		t.Errorf("it is %v", s.State())
	}
	s.step(at(ended+s.cfg.Drain), Input{Kind: Tick})
	if s.State() != Standing {
		t.Errorf("it is %v after the drain", s.State())
	}
}

// S10: a TTL beyond any candidate's is no TTL, and one that somebody shortened by hand shortens no wait.
func TestS10WaitIsBoundedAndNeverShortened(t *testing.T) {
	for _, test := range []struct {
		name string
		ttls []time.Duration // of the same mark, one after the other
		wait time.Duration
	}{
		{"as it is", []time.Duration{storyTTL}, storyTTL},
		{"overflowing", []time.Duration{1<<63 - 1}, MaxTTL},
		{"negative", []time.Duration{-time.Second}, storyTTL},
		{"shortened by hand", []time.Duration{3 * storyTTL, time.Second}, 3 * storyTTL},
		{"lengthened by hand", []time.Duration{storyTTL, 3 * storyTTL}, 3 * storyTTL},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript(t, func(c *Config) { c.Watch = true })
			s.step(at(0), Input{Kind: Stand})
			for i, ttl := range test.ttls {
				snap := held(fmt.Sprint("v", i), 5, 10)
				snap.Record.TTL = ttl
				s.step(at(0), Input{Kind: Pushed, Snapshot: snap})
			}
			if o := s.opening(at(0)); o.at != s.cfg.Wait(test.wait) {
				t.Errorf("open after %v, not %v", o.at, s.cfg.Wait(test.wait))
			}
		})
	}
}

// S7: a bid that landed is a win as soon as it is wanted, though it was first seen in a state that forbids it.
func TestS7BidFirstSeenWhilePausedIsStillAWin(t *testing.T) {
	s := newScript(t, func(c *Config) { c.Watch = true })
	s.step(at(0), Input{Kind: Stand})
	s.step(at(time.Second), Input{Kind: Pushed})
	landed := written("v1", s.must(Write))
	s.step(at(2*time.Second), Input{Kind: Wrote, Outcome: Unknown})
	s.step(at(3*time.Second), Input{Kind: Tick})
	s.must(Load)
	paused := landed
	paused.Version, paused.Record.Paused = "v2", true
	s.step(at(3*time.Second), Input{Kind: Pushed, Snapshot: paused})
	s.mustNot(Elected)
	s.step(at(3*time.Second), Input{Kind: Pushed, Snapshot: landed})
	if e := s.must(Elected); e.Token != landed.Record.Token {
		t.Errorf("it leads term %d", e.Token)
	}
}

// A resignation is about the term in which it was asked for, and no later one.
func TestResignationOfAnEarlierTermIsVoid(t *testing.T) {
	s := newScript(t, nil)
	s.leads()
	s.step(at(2*time.Second), Input{Kind: Resign, Token: 7})
	s.mustNot(Ended)
	s.step(at(2*time.Second), Input{Kind: Resign, Token: 1})
	s.must(Ended)
}

// What the health check said in an earlier candidacy is no verdict on this one, and a try waits for one.
func TestHealthIsJudgedAnewInEachCandidacy(t *testing.T) {
	s := newScript(t, func(c *Config) { c.HealthChecked = true })
	s.step(at(0), Input{Kind: Stand})
	s.step(at(0), Input{Kind: Healthy})
	s.step(at(0), Input{Kind: Stop})
	s.step(at(0), Input{Kind: Loaded, Outcome: Unknown})
	s.must(Done)
	s.step(at(time.Second), Input{Kind: Try})
	s.step(at(time.Second), Input{Kind: Loaded})
	s.mustNot(Write)
	s.mustNot(Done)
	s.step(at(2*time.Second), Input{Kind: Healthy})
	s.must(Write)
}

func TestTryDoesNotWaitForAVerdictThatIsBad(t *testing.T) {
	s := newScript(t, func(c *Config) { c.HealthChecked = true })
	s.step(at(0), Input{Kind: Try})
	s.step(at(0), Input{Kind: Loaded})
	s.step(at(time.Second), Input{Kind: Unhealthy})
	s.mustNot(Write)
	s.must(Done)
}

// Who tries after a resignation of its own wants the seat: it is left to others only where the candidate stands again
// by itself.
func TestTryAfterResigningBids(t *testing.T) {
	s := newScript(t, nil)
	s.step(at(time.Second), Input{Kind: Try})
	s.step(at(time.Second), Input{Kind: Loaded})
	s.step(at(time.Second), Input{Kind: Wrote, Snapshot: written("v1", s.must(Write))})
	s.step(at(2*time.Second), Input{Kind: Resign})
	s.step(at(2*time.Second), Input{Kind: WorkChange, Work: NoWork})
	vacant := written("v2", s.must(Write))
	s.step(at(2*time.Second), Input{Kind: Wrote, Snapshot: vacant})
	s.must(Done)
	s.step(at(3*time.Second), Input{Kind: Try})
	s.step(at(3*time.Second), Input{Kind: Loaded, Snapshot: vacant})
	s.must(Write)
}

// L5: a store that fails at once is not called without a pause, in any state.
func TestL5FailingStoreIsSpared(t *testing.T) {
	for _, outcome := range []Outcome{NotApplied, Permanent, Unknown, Conflict} {
		t.Run(outcome.String(), func(t *testing.T) {
			s := newScript(t, nil)
			s.leads()
			s.step(at(2*time.Second), Input{Kind: Resign})
			s.step(at(2*time.Second), Input{Kind: WorkChange, Work: NoWork})
			calls := s.fail(2*time.Second, outcome) + s.runUntil(2*time.Second, 2*time.Second+storyTTL, outcome)
			if calls > 150 {
				t.Errorf("%d calls in one TTL", calls)
			}
		})
	}
}

func TestRequestToAnotherTermIsNotObeyed(t *testing.T) {
	for _, test := range []struct {
		token uint64
		ends  bool
	}{{0, false}, {1, true}, {2, false}} {
		s := newScript(t, func(c *Config) { c.Watch = true })
		s.step(at(0), Input{Kind: Stand})
		s.step(at(time.Second), Input{Kind: Pushed})
		won := written("v1", s.must(Write))
		s.step(at(time.Second), Input{Kind: Wrote, Snapshot: won})
		won.Version, won.Record.Request = "v2", Request{Token: test.token, To: "b"}
		s.step(at(2*time.Second), Input{Kind: Pushed, Snapshot: won})
		if _, ended := s.did(Ended); ended != test.ends {
			t.Errorf("a request to term %d ends term 1: %v", test.token, ended)
		}
	}
}

// L5: a bid is in doubt over a missing record, and the store holds an older one: the release is not tried again and
// again.
func TestL5ReleaseThatConflictsIsNotRepeated(t *testing.T) {
	s := newScript(t, nil)
	s.step(at(0), Input{Kind: Stand})
	s.step(at(0), Input{Kind: Loaded, Snapshot: Snapshot{Record: Record{Token: 5}}})
	s.must(Write)
	s.step(at(0), Input{Kind: Wrote, Outcome: Unknown})
	s.step(at(0), Input{Kind: Stop})
	older := Snapshot{Version: "v3", Record: Record{Token: 3, Renewals: 1, TTL: storyTTL}}
	writes := 0
	for now := 200 * time.Millisecond; s.State() != Off; now += time.Millisecond {
		if _, ok := s.did(Write); ok {
			if writes++; writes > 5 {
				t.Fatal("it writes again and again")
			}
			s.step(at(now), Input{Kind: Wrote, Outcome: Conflict})
		} else if _, ok := s.did(Load); ok {
			s.step(at(now), Input{Kind: Loaded, Snapshot: older})
		} else {
			s.step(at(now), Input{Kind: Tick})
		}
	}
	if writes == 0 {
		t.Error("it never tried")
	}
}
