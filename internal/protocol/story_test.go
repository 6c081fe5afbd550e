package protocol

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// The stories are what befell other systems, under the numbers of the collection from which this project took them;
// each is told here step by step, as far as a machine can meet it. Others are met elsewhere: 6, 20 and 22 by the
// candidate, 10 by the guard of a command; 11 and 27 are the business of stores. The simulator plays all their faults at
// random.

const storyTTL = 10 * time.Second

func testConfig(id string) Config {
	return Config{
		ID: id, Session: "session of " + id, TTL: storyTTL, Drain: storyTTL / 5, ClockError: 0.01,
		RenewEvery: storyTTL / 3, PollEvery: storyTTL / 5, CallTimeout: storyTTL / 6,
		Backoff: Backoff{Initial: storyTTL / 50, Max: storyTTL / 2, Factor: 2, Jitter: 0.5}, Release: true,
	}
}

// stage is where machines play a story: one register, one true time, and a clock for each.
type stage struct {
	t      *testing.T
	now    time.Duration
	store  Snapshot
	writes int
	actors []*actor
}

// actor is a machine with what the runtime does for it, and what can be done to it.
type actor struct {
	*Machine
	stage       *stage
	mono, wall  time.Duration // by how far its clocks are off
	cut, frozen bool          // it reaches no store; it does nothing at all
	deaf        bool          // its leader work ignores the end of its term
	call        *Effect
	callSent    time.Duration
	calls       int
	seen        []Effect
}

func newStage(t *testing.T) *stage { return &stage{t: t} }

func (s *stage) actor(id string) *actor { return s.actorWith(testConfig(id)) }

func (s *stage) actorWith(cfg Config) *actor {
	cfg.Session = fmt.Sprint(cfg.ID, len(s.actors))
	a := &actor{Machine: New(cfg, rand.NewPCG(1, uint64(len(s.actors))), rand.NewPCG(2, uint64(len(s.actors)))), stage: s}
	s.actors = append(s.actors, a)
	return a
}

func (a *actor) reading() clock.Reading {
	return clock.Reading{Mono: a.stage.now + a.mono, Wall: a.stage.now + a.wall}
}

func (a *actor) trusted() bool { return a.Trusted(a.reading()) }

// do steps the machine and carries out what it decides.
func (a *actor) do(in Input) {
	for _, e := range a.Step(a.reading(), in) {
		a.seen = append(a.seen, e)
		switch e.Do {
		case Load, Write:
			a.call, a.callSent = &e, a.stage.now
			a.calls++
		case Ended:
			if !a.deaf {
				a.do(Input{Kind: WorkChange, Work: NoWork})
			} else {
				a.do(Input{Kind: WorkChange, Work: Running})
			}
		}
	}
}

// answer carries the call in flight to the store and back, at once or as unknown.
func (a *actor) answer(heard bool) {
	e := a.call
	a.call = nil
	in := Input{Kind: Loaded, Snapshot: a.stage.store}
	if e.Do == Write {
		in.Kind = Wrote
		in.Snapshot, in.Outcome = a.stage.swap(e)
	}
	if !heard {
		in = Input{Kind: in.Kind, Outcome: Unknown}
	}
	a.do(in)
}

func (s *stage) swap(e *Effect) (Snapshot, Outcome) {
	if e.Base.Version != s.store.Version {
		return Snapshot{}, Conflict
	}
	s.put(e.Record)
	return s.store, OK
}

func (s *stage) put(r Record) {
	s.writes++
	s.store = Snapshot{Version: fmt.Sprint("v", s.writes), Record: r}
}

// pass lets time go by, and checks all the while that at most one is trusted.
func (s *stage) pass(d time.Duration) {
	const beat = 50 * time.Millisecond
	for end := s.now + d; s.now < end; s.now += beat {
		leaders := 0
		for _, a := range s.actors {
			if !a.frozen {
				a.beat()
			}
			if a.trusted() {
				leaders++
			}
		}
		if leaders > 1 {
			s.t.Fatalf("%d lead at %v", leaders, s.now)
		}
	}
}

func (a *actor) beat() {
	for range 10 {
		if at, ok := a.Wake(); ok && a.reading().Mono >= at {
			a.do(Input{Kind: Tick})
		}
		if a.call == nil {
			return
		}
		if a.cut {
			if a.stage.now-a.callSent >= a.call.Timeout {
				kind := Loaded
				if a.call.Do == Write {
					kind = Wrote
				}
				a.call = nil
				a.do(Input{Kind: kind, Outcome: Unknown})
			}
			return
		}
		a.answer(true)
	}
}

// leads has a stand and become the leader.
func (a *actor) leads() *actor {
	a.do(Input{Kind: Stand})
	a.stage.pass(100 * time.Millisecond)
	a.stage.expect(a)
	return a
}

func (a *actor) stands() *actor {
	a.do(Input{Kind: Stand})
	a.stage.pass(100 * time.Millisecond)
	return a
}

// expect checks who leads.
func (s *stage) expect(leader *actor) {
	s.t.Helper()
	for _, a := range s.actors {
		if a.trusted() != (a == leader) {
			s.t.Errorf("at %v %s leads: %v", s.now, a.cfg.ID, a.trusted())
		}
	}
}

// cause returns why the last term of a ended.
func (a *actor) cause() (Cause, bool) {
	for i := len(a.seen) - 1; i >= 0; i-- {
		if a.seen[i].Do == Ended {
			return a.seen[i].Cause, true
		}
	}
	return 0, false
}

func (a *actor) count(do Do) (n int) {
	for _, e := range a.seen {
		if e.Do == do {
			n++
		}
	}
	return n
}

// A renewal that asks for no owner lets the old leader extend the new one's lease.
func TestStory01RenewalIsScopedToItsOwner(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("a").leads(), s.actor("b").stands()
	a.frozen = true
	s.pass(2 * storyTTL)
	s.expect(b)
	record := s.store.Record
	a.frozen = false
	s.pass(storyTTL / 20)
	s.expect(b)
	if s.store.Record != record && s.store.Record.Session != b.cfg.Session {
		t.Errorf("a has touched the record of b: %+v", s.store.Record)
	}
}

func TestStory02TwoProcessesWithOneIdentity(t *testing.T) {
	s := newStage(t)
	a := s.actor("same").leads()
	s.actor("same").stands()
	s.pass(3 * storyTTL)
	s.expect(a)
}

// The reply comes late, then the network goes: the lease counts from the sending.
func TestStory03SlowAcknowledgementThenPartition(t *testing.T) {
	for _, late := range []time.Duration{storyTTL * 49 / 100, storyTTL * 75 / 100} {
		s := newStage(t)
		a, b := s.actor("a").leads(), s.actor("b").stands()
		for a.call == nil { // until the next renewal is sent
			s.now += time.Millisecond
			a.do(Input{Kind: Tick})
		}
		sent := s.now
		in := Input{Kind: Wrote}
		in.Snapshot, in.Outcome = s.swap(a.call)
		a.frozen = true // nothing is heard of the reply
		s.pass(late)
		a.frozen, a.cut, a.call = false, true, nil
		a.do(in)
		for a.trusted() {
			s.pass(50 * time.Millisecond)
		}
		if lasted := s.now - sent; lasted > a.cfg.Span()+100*time.Millisecond {
			t.Errorf("reply %v late: trusted for %v from the sending, allowed are %v", late, lasted, a.cfg.Span())
		}
		s.pass(2 * storyTTL)
		s.expect(b)
	}
}

// Leadership ends by the clock, with no word from the store.
func TestStory04LossIsToldWithoutTheStore(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	a.cut = true
	s.pass(storyTTL)
	if cause, ok := a.cause(); !ok || cause != LeaseExpired {
		t.Errorf("cause %v, told %v", cause, ok)
	}
}

// Work that does not stop in time is reported, and its seat is not given away.
func TestStory05StopHookOutlivesTheDeadline(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	a.deaf = true
	a.do(Input{Kind: Resign})
	s.pass(storyTTL)
	if a.State() != Overrun || a.count(Overran) != 1 || s.store.Record.Vacant() {
		t.Errorf("state %v, record %+v", a.State(), s.store.Record)
	}
	s.pass(3 * storyTTL)
	s.expect(nil) // it does not bid while the work goes on
	a.do(Input{Kind: WorkChange, Work: NoWork})
	s.pass(time.Second)
	s.expect(a)
}

// A machine that was suspended finds itself out of trust when it wakes, although its monotonic clock stood still.
func TestStory07SuspendedLeader(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("a").leads(), s.actor("b").stands()
	a.frozen = true
	s.pass(2 * storyTTL)
	a.mono -= 2 * storyTTL
	a.frozen = false
	if a.trusted() {
		t.Error("a trusts itself after its suspension")
	}
	s.pass(time.Second)
	s.expect(b)
}

// A bid whose reply is later than its lease is no win.
func TestStory08WonTooLate(t *testing.T) {
	s := newStage(t)
	a := s.actor("a")
	a.do(Input{Kind: Stand})
	a.answer(true) // the load: the bid is sent
	in := Input{Kind: Wrote}
	in.Snapshot, in.Outcome = s.swap(a.call)
	a.call = nil
	s.now += storyTTL
	a.do(in)
	if a.trusted() || a.count(Elected) != 0 {
		t.Error("a lease that was over on arrival was taken for a win")
	}
	first := s.store.Record.Token
	s.pass(time.Second)
	s.expect(a)
	if s.store.Record.Token <= first {
		t.Errorf("token %d after %d", s.store.Record.Token, first)
	}
}

// An old state, read from a node of the store that lags, neither deposes a leader nor shortens anybody's wait.
func TestStory09StaleRead(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	old := s.store
	s.pass(storyTTL)
	b := s.actor("b").stands()
	a.do(Input{Kind: Pushed, Snapshot: old})
	b.do(Input{Kind: Pushed, Snapshot: old})
	s.pass(5 * storyTTL)
	s.expect(a)
	if a.count(Elected) != 1 {
		t.Error("a stale read has ended a term")
	}
}

// A connection that swallows everything ends a term in time, and candidacy survives it.
func TestStory12HalfOpenConnection(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("a").leads(), s.actor("b").stands()
	a.cut = true
	s.pass(storyTTL + storyTTL/4)
	s.expect(b)
	a.cut = false
	s.pass(storyTTL)
	b.cut = true
	s.pass(storyTTL + storyTTL/4)
	s.expect(a)
}

// The store fails over and the record is gone: the leader learns it, and nobody else goes first.
func TestStory13RecordLostByTheStore(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("a").leads(), s.actor("b").stands()
	s.pass(storyTTL)
	token := s.store.Record.Token
	s.store = Snapshot{}
	s.pass(storyTTL * 9 / 10)
	s.expect(nil)
	if cause, _ := a.cause(); cause != Deposed {
		t.Errorf("cause %v", cause)
	}
	s.pass(storyTTL)
	if r := s.store.Record; r.Token <= token || !a.trusted() && !b.trusted() {
		t.Errorf("after the loss: %+v", r)
	}
}

// The wall clock goes back after a migration.
func TestStory14WallClockSteppedBack(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("a").leads(), s.actor("b").stands()
	a.wall -= time.Hour
	b.wall += time.Hour
	s.pass(storyTTL)
	s.expect(a)
	a.cut = true
	s.pass(2 * storyTTL)
	s.expect(b)
}

// The store comes back with an older state: it is held, and tokens go on above the highest seen.
func TestStory15StoreGoesBack(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	backup := s.store
	a.do(Input{Kind: Resign})
	s.pass(time.Second)
	b := s.actor("b").stands()
	s.pass(storyTTL) // a sees the term of b: whoever has not seen what was lost knows no better
	s.expect(b)
	highest := s.store.Record.Token
	s.store = Snapshot{Version: "restored", Record: backup.Record}
	s.pass(4 * storyTTL)
	if r := s.store.Record; r.Token <= highest {
		t.Errorf("token %d after %d", r.Token, highest)
	}
}

// A refusal by the store is not the end of a candidacy.
func TestStory16RefusalIsNotFatal(t *testing.T) {
	s := newStage(t)
	a := s.actor("a")
	a.do(Input{Kind: Stand})
	a.answer(true)
	for _, o := range []Outcome{Conflict, NotApplied, Permanent, Unknown} {
		for a.call == nil || a.call.Do != Write {
			s.now += time.Millisecond
			if a.call != nil {
				a.answer(true)
			}
			a.do(Input{Kind: Tick})
		}
		a.call = nil
		a.do(Input{Kind: Wrote, Outcome: o})
	}
	s.pass(storyTTL)
	s.expect(a)
}

// A leader that was starved does not take back what another holds by now.
func TestStory17StarvedLeaderWakes(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("a").leads(), s.actor("b").stands()
	a.frozen = true
	s.pass(storyTTL * 3 / 2)
	s.expect(b)
	token := s.store.Record.Token
	a.frozen = false
	s.pass(3 * storyTTL)
	s.expect(b)
	if s.store.Record.Token != token {
		t.Error("the seat has changed hands")
	}
}

// A leader renews for as long as it leads.
func TestStory18HolderRenews(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	s.actor("b").stands()
	s.pass(time.Hour)
	s.expect(a)
	if a.count(Elected) != 1 {
		t.Errorf("%d terms in an hour", a.count(Elected))
	}
}

// A release whose outcome is unknown is tried again, and a bid that failed leaves nothing behind.
func TestStory19FailedResignAndFailedCampaign(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	a.do(Input{Kind: Stop})
	a.call = nil // the release is lost on its way
	a.do(Input{Kind: Wrote, Outcome: Unknown})
	s.pass(storyTTL)
	if !s.store.Record.Vacant() || a.State() != Off {
		t.Errorf("state %v, record %+v", a.State(), s.store.Record)
	}

	s = newStage(t)
	a = s.actor("a")
	a.do(Input{Kind: Stand})
	a.answer(true)
	bid := *a.call
	a.call = nil
	a.do(Input{Kind: Wrote, Outcome: Unknown})
	a.do(Input{Kind: Stop})
	s.pass(storyTTL)
	if _, o := s.swap(&bid); o == OK || !s.store.Record.Vacant() {
		t.Errorf("a bid landed after its candidate had stopped: %+v", s.store.Record)
	}
}

func TestStory21FailedRenewalIsNotTheEnd(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	for range 3 {
		a.cut = true
		s.pass(3 * storyTTL)
		s.expect(nil)
		a.cut = false
		s.pass(storyTTL)
		s.expect(a)
	}
}

// Health gates renewal: a leader whose disk hangs goes, and comes back only when it is well.
func TestStory23HealthGatesRenewal(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("a").leads(), s.actor("b").stands()
	a.do(Input{Kind: Unhealthy})
	s.pass(storyTTL)
	s.expect(b)
	b.do(Input{Kind: Stop})
	s.pass(3 * storyTTL)
	s.expect(nil)
	a.do(Input{Kind: Healthy})
	s.pass(time.Second)
	s.expect(a)
}

// A reply that is lost is read back: neither a bid nor a renewal is lost with it.
func TestStory24LostReplyIsReadBack(t *testing.T) {
	s := newStage(t)
	a := s.actor("a")
	a.do(Input{Kind: Stand})
	a.answer(true)
	a.answer(false) // the bid lands, unheard
	s.pass(time.Second)
	s.expect(a)
	if s.store.Record.Token != 1 || a.count(Write) != 1 {
		t.Errorf("%d writes, record %+v", a.count(Write), s.store.Record)
	}
	for a.call == nil {
		s.now += time.Millisecond
		a.do(Input{Kind: Tick})
	}
	a.answer(false) // so does a renewal
	s.pass(2 * storyTTL)
	s.expect(a)
	if a.count(Elected) != 1 {
		t.Error("a lost reply has ended the term")
	}
}

func TestStory25ReleaseKeepsTheToken(t *testing.T) {
	s := newStage(t)
	a := s.actor("a").leads()
	for want := uint64(1); want < 5; want++ {
		if got := s.store.Record.Token; got != want {
			t.Errorf("token %d, want %d", got, want)
		}
		a.do(Input{Kind: Stop})
		s.pass(time.Second)
		a.leads()
	}
}

// A candidate that stands by sends nothing while changes are pushed.
func TestStory26StandingByIsSilent(t *testing.T) {
	s := newStage(t)
	s.actor("a").leads()
	cfg := testConfig("b")
	cfg.Watch = true
	b := s.actorWith(cfg)
	b.do(Input{Kind: Stand})
	for range 1000 {
		b.do(Input{Kind: Pushed, Snapshot: s.store})
		s.pass(storyTTL / 20)
	}
	if b.calls != 0 {
		t.Errorf("%d calls", b.calls)
	}
}

// A seat that was left, or whose holder the store knows to be dead, is taken at once, by a newcomer too.
func TestStory28NewcomerDoesNotWaitForALeaseThatEnded(t *testing.T) {
	s := newStage(t)
	s.actor("a").leads().do(Input{Kind: Stop})
	s.pass(time.Second)
	b := s.actor("b").leads()
	b.frozen = true // killed, on a host whose kernel tells
	s.pass(storyTTL / 2)
	b.mono, b.wall = time.Hour, time.Hour
	s.store.Abandoned = true
	s.actor("c").leads()
}
