package tenure

import (
	"context"
	"log/slog"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// stint is one run of a candidate, from its start to its stop. A single goroutine, in loop, feeds the machine and
// carries out what it decides; calls to the store have a goroutine each while they last, one at a time.
type stint struct {
	c    *Candidate
	base context.Context // carries the caller's values, never its end
	news chan struct{}   // rings when whoever waits in Run, Campaign or TryAcquire should look
	done chan struct{}   // closed when nothing of the stint runs any more

	unbind func() bool // undoes what stops the stint with its caller's context; nil if nothing does

	// Of the goroutine in loop alone.
	cancelCall context.CancelFunc
	watch      *watch
	health     *health
	finished   bool

	// Guarded by c.mu.
	permanent error // the failure for which Run and its like give up
	lastError error // of a call
	stopping  bool  // somebody has asked for the end of the stint
}

// begin starts a stint for one of the public calls. One of Run or Start ends with ctx.
func (c *Candidate) begin(ctx context.Context, kind protocol.Kind) (*stint, error) {
	if err := c.checkGrade(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stint != nil {
		return nil, ErrRunning
	}
	s := &stint{c: c, base: context.WithoutCancel(ctx), news: make(chan struct{}, 1), done: make(chan struct{})}
	c.stint = s
	c.inbox.clear()
	if l := c.current.Load(); l != nil {
		l.report() // work of an earlier stint may still run
		l.markStop(false)
	}
	c.inbox.post(message{input: protocol.Input{Kind: kind}})
	if kind == protocol.Stand {
		s.unbind = context.AfterFunc(ctx, s.stop)
	}
	s.startWatch()
	s.startHealth()
	go s.loop()
	return s, nil
}

// loop never sets its timer to go off at once: the race detector of Go 1.26 crashes where two goroutines in a bubble of
// testing/synctest do that at a time (golang/go#78156), and users test what they build on this in bubbles.
func (s *stint) loop() {
	timer := time.AfterFunc(noWake, s.c.inbox.ring)
	defer timer.Stop()
	for !s.finished {
		<-s.c.inbox.bell
		s.work()
		if wait := s.untilWake(); wait > 0 {
			timer.Reset(wait)
		} else {
			s.c.inbox.ring()
		}
	}
	s.close()
}

// work feeds the machine all that has come in, or just the time if nothing has. What came in goes first: a renewal
// that landed counts, even if the process woke only now to hear of it.
func (s *stint) work() {
	m, ok := s.c.inbox.take()
	if !ok {
		s.step(message{}) // a tick
	}
	for ; ok && !s.finished; m, ok = s.c.inbox.take() {
		s.step(m)
	}
}

// noWake is how long the goroutine sleeps while the machine has nothing to do at any time.
const noWake = time.Hour

// untilWake is how long the goroutine may sleep; not at all if it is not above zero.
func (s *stint) untilWake() time.Duration {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	at, ok := s.c.machine.Wake()
	if !ok {
		return noWake
	}
	mono, _ := s.c.clock.Now()
	return at - mono
}

// close ends whatever else the stint started.
func (s *stint) close() {
	c := s.c
	if s.unbind != nil {
		s.unbind()
	}
	if s.watch != nil {
		s.watch.stop()
	}
	if s.health != nil {
		s.health.stop()
	}
	s.emit(Event{Kind: EventStopped, Reason: "nothing is left to do"})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stint = nil
	close(s.done)
}

// step feeds the machine one input and carries out what it decides. Nothing of the user's runs in between.
func (s *stint) step(m message) {
	effects, state, newest := s.decide(&m)
	if m.input.Kind == protocol.Stop {
		s.markStop()
	}
	for _, e := range effects {
		s.c.logDecision(m.input, e)
		s.carryOut(e, m)
	}
	s.closeTerm(state, newest)
	s.c.state.Store(uint32(states[state])) // last: a leader has its term by now
}

// decide has the machine take its step, and keeps what others may ask about it.
func (s *stint) decide(m *message) (effects []protocol.Effect, state protocol.State, newest seen) {
	c := s.c
	var waitsFor string
	if m.input.Kind == protocol.WorkChange {
		m.input.Work, waitsFor = c.current.Load().work()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Read()
	s.observe(*m, now.Mono)
	c.vitals.waits(waitsFor)
	effects = c.machine.Step(now, m.input)
	for _, e := range effects {
		c.note(m.input, e)
		c.vitals.handsOver(e, now.Mono)
	}
	snapshot, _ := c.machine.Seen(now)
	r := snapshot.Record
	return effects, c.machine.State(), seen{token: r.Token, leader: r.Leader, own: r.Session == c.machine.Session()}
}

// seen is what the newest record says.
type seen struct {
	token  uint64
	leader string
	own    bool // it bears the candidate's session
}

// observe keeps for Status what the machine does not.
func (s *stint) observe(m message, now time.Duration) {
	c := s.c
	switch m.input.Kind {
	case protocol.Loaded, protocol.Wrote:
		c.vitals.latency = now - c.vitals.sent
		s.lastError = m.err
		if m.err == nil || m.input.Outcome == protocol.Conflict {
			s.permanent = nil // the cause was repaired
		}
		if m.input.Outcome == protocol.Conflict {
			return // somebody was faster: nothing is wrong with the store
		}
	case protocol.WatchLost:
	default:
		return
	}
	if m.err != nil {
		c.vitals.lastError, c.vitals.lastErrorAt = m.err, time.Now()
	}
}

func (s *stint) carryOut(e protocol.Effect, m message) {
	switch e.Do {
	case protocol.Load, protocol.Write:
		s.call(e)
	case protocol.CancelCall:
		s.cancelCall()
	case protocol.Rewatch:
		s.startWatch()
	case protocol.Elected:
		s.elected(e)
	case protocol.Extended:
		s.extended(e)
	case protocol.Ended:
		s.ended(e)
	case protocol.Overran:
		s.c.current.Load().finish(ErrOverran, "")
		s.emit(Event{Kind: EventOverran, Token: e.Token, Reason: e.Reason, Err: ErrOverran})
	case protocol.Vacated:
		s.vacated(e)
		s.emit(Event{Kind: EventReleased, Token: e.Token, Reason: e.Reason})
	case protocol.LeaderChanged:
		s.emit(Event{Kind: EventLeaderChanged, Token: e.Token, Leader: s.c.leaderSeen(), Reason: e.Reason})
	case protocol.CallFailed:
		s.failed(e, m.err)
	case protocol.Copied:
		s.emit(Event{Kind: EventCopied, Token: e.Token, Reason: e.Reason})
	case protocol.Done:
		s.finished = true
	}
}

func (s *stint) elected(e protocol.Effect) {
	c := s.c
	l := &lead{over: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(s.base)
	l.term = Term{Election: c.election, Leader: c.config.ID, Token: e.Token, trust: &l.trust}
	l.trust.clock = &c.clock
	l.trust.onLoss = func() { c.inbox.post(message{input: protocol.Input{Kind: protocol.Distrust}}) }
	l.report = func() { c.inbox.post(message{input: protocol.Input{Kind: protocol.WorkChange}}) }
	l.trust.extend(e.Until)
	c.current.Store(l)
	s.renewed(&l.trust)
	s.emit(Event{Kind: EventElected, Token: e.Token, Reason: e.Reason})
	s.ring()
}

func (s *stint) extended(e protocol.Effect) {
	l := s.c.current.Load()
	s.renewed(&l.trust)
	l.trust.extend(e.Until)
	s.emit(Event{Kind: EventRenewed, Token: e.Token, Reason: e.Reason})
}

// renewed notes when a renewal came back, and how much trust was left by then.
func (s *stint) renewed(t *trust) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.vitals.renewedAt, s.c.vitals.margin = time.Now(), t.remaining()
}

func (s *stint) ended(e protocol.Effect) {
	l := s.c.current.Load()
	cause := causes[e.Cause]
	l.untold.Store(s.c.events != nil) // who acts on EventElected acts on this
	l.end(cause)
	l.report()
	s.announce(Event{Kind: EventEnded, Token: e.Token, Reason: e.Reason, Err: cause}, l.told)
}

// markStop notes that the seat which is held now, if one is, is given up for the stop.
func (s *stint) markStop() {
	if l := s.c.current.Load(); l != nil && !l.finished() {
		l.markStop(true)
	}
}

// vacated tells those who wait for the end of the term that the seat was given back, and for whom it is kept.
func (s *stint) vacated(e protocol.Effect) {
	if l := s.c.current.Load(); l != nil && l.term.Token == e.Token {
		l.finish(nil, e.Record.Reserved)
	}
}

// closeTerm tells them that it was lost, or could not be given back.
func (s *stint) closeTerm(state protocol.State, newest seen) {
	switch state {
	case protocol.Leading, protocol.Draining, protocol.Releasing, protocol.Overrun:
		return
	default:
	}
	l := s.c.current.Load()
	if l == nil || l.finished() {
		return
	}
	if newest.own && newest.token == l.term.Token && !l.lost() {
		s.c.log.write(slog.LevelWarn, "the seat was not given back", "token", l.term.Token)
		l.finish(ErrNotReleased, "")
		return
	}
	l.finish(nil, newest.leader)
}

func (s *stint) failed(e protocol.Effect, err error) {
	if err == nil {
		err = Permanent(errorText(e.Reason))
	}
	if e.Outcome == protocol.Permanent {
		s.c.mu.Lock()
		s.permanent = err
		s.c.mu.Unlock()
	}
	s.emit(Event{Kind: EventStoreFailed, Token: e.Token, Reason: e.Reason, Err: err})
	s.ring()
}

// errorText is a failure that the machine found by itself.
type errorText string

func (e errorText) Error() string { return string(e) }

// ring has whoever waits for the stint look again.
func (s *stint) ring() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// emit logs an event and passes it to the observers.
func (s *stint) emit(e Event) { s.announce(e, nil) }

// announce does what emit does, and calls told once all observers have returned from it.
func (s *stint) announce(e Event, told func()) {
	c := s.c
	e.At, e.Election, e.Candidate = time.Now(), c.election, c.config.ID
	c.logEvent(e)
	c.events.publish(notice{e, told})
}

// stop asks the stint to leave the election.
func (s *stint) stop() {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.c.stint == s { // not a later one
		s.stopping = true
		s.c.inbox.post(message{input: protocol.Input{Kind: protocol.Stop}})
	}
}
