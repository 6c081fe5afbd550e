package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// faults do what their names say, and wait for what follows.
var faults = map[Fault]func(*stage, context.Context){
	Kill: (*stage).killLeader, Freeze: (*stage).freezeLeader, Blink: (*stage).blinkLeader, Resign: (*stage).askLeader,
	Transfer: (*stage).transferSeat, Stop: (*stage).stopLeader, Follower: (*stage).killFollower,
	Pause: (*stage).pauseElection,
}

// begin notes that something is being done.
func (s *stage) begin(e Event) {
	e.At = s.now()
	s.pending = &e
}

// conclude notes what followed.
func (s *stage) conclude(outcome string) {
	e := s.pending
	s.pending = nil
	e.Outcome = outcome
	s.events = append(s.events, *e)
	s.Display.Event(*e)
}

// follow waits for a leader with a token above the given one, and notes how long after the instant since it led.
func (s *stage) follow(ctx context.Context, since guard.Instant, token uint64, times *[]time.Duration) {
	came := s.until(ctx, s.patience(), func() bool { return s.successor(token) != nil })
	s.impatient(ctx, came)
	if !came {
		s.abandon()
		return
	}
	next := s.successor(token)
	e := s.pending
	e.Leader, e.NewToken, e.After = next.id, next.term.Token, next.term.led.Sub(since)
	if times != nil && s.contested {
		*times = append(*times, e.After)
	}
	s.conclude(e.sequel())
}

// abandon notes that nobody waits any more for what follows.
func (s *stage) abandon() { s.conclude("→ the demo ended") }

// refused notes that the store did not take a request.
func (s *stage) refused(err error) { s.conclude("→ " + oneLine(err.Error())) }

// noteElection notes a change of leader that nothing was done for just now.
func (s *stage) noteElection(next *member) {
	if s.pending != nil || s.closing {
		return
	}
	outcome := "→ leads, though nothing was done"
	for _, t := range s.terms {
		if t.Token < next.term.Token && t.reason != "" {
			outcome = fmt.Sprintf("→ the term of %s was over: %s", t.Node, strings.TrimPrefix(t.reason, "tenure: "))
		}
	}
	s.begin(Event{What: "elected", Node: next.id, Token: next.term.Token})
	s.conclude(outcome)
}

// onLeader begins an event that happens to the leader.
func (s *stage) onLeader(what string) (leader *member, token uint64, at guard.Instant) {
	leader = s.leader()
	token = leader.term.Token
	s.contested = len(s.present(leader)) > 0
	s.begin(Event{What: what, Node: leader.id, Token: token})
	return leader, token, guard.Now()
}

func (s *stage) killLeader(ctx context.Context) {
	leader, token, at := s.onLeader("kill -9")
	s.kill(leader)
	s.follow(ctx, at, token, &s.times.afterKill)
}

// kill kills a node and has it start again some time later.
func (s *stage) kill(m *member) {
	m.leaving = true
	_ = m.process.kill() // if it is gone, so much the better
	m.restartAt = guard.Now().Add(s.TTL/4 + s.upTo(3*s.TTL/4))
}

// Frozen nodes stay so for between 1.2 and 2 TTL, or in a blink between 0.1 and 0.9.
func shortestFreeze(ttl time.Duration) time.Duration { return 6 * ttl / 5 }
func longestFreeze(ttl time.Duration) time.Duration  { return 2 * ttl }

// blockedAfter is when a frozen node is thawed though nobody has followed it: one that was frozen within a transaction
// of SQLite keeps everybody from writing.
func blockedAfter(ttl time.Duration) time.Duration { return 4 * ttl }

func (s *stage) freezeLeader(ctx context.Context) {
	lasts := shortestFreeze(s.TTL) + s.upTo(longestFreeze(s.TTL)-shortestFreeze(s.TTL))
	lasts = max(shortestFreeze(s.TTL), min(lasts, s.For-s.now()))
	leader, token, at := s.onLeader("freeze")
	s.freeze(leader)
	failures := s.failures
	switch {
	case !s.contested:
		s.conclude("→ nobody else is there to lead")
	case !s.until(ctx, blockedAfter(s.TTL), func() bool { return s.successor(token) != nil }) &&
		s.goesOn(ctx) && s.failures > failures:
		s.conclude("→ nobody else can lead: the store fails, and may be locked by the node that is frozen")
	default:
		s.follow(ctx, at, token, &s.times.afterFreeze)
	}
	s.pass(ctx, lasts-guard.Now().Sub(at))
	if !s.goesOn(ctx) {
		return
	}
	s.begin(Event{What: "thaw", Node: leader.id, Token: token})
	lasted := guard.Now().Sub(at)
	s.conclude(fmt.Sprintf("→ first answer after %s: %s", span(lasted), s.awake(ctx, leader, token)))
}

func (s *stage) blinkLeader(ctx context.Context) {
	lasts := s.TTL/10 + s.upTo(8*s.TTL/10)
	leader, token, at := s.onLeader("freeze")
	s.freeze(leader)
	s.pass(ctx, lasts)
	if !s.goesOn(ctx) {
		s.abandon()
		return
	}
	lasted := guard.Now().Sub(at)
	s.conclude(fmt.Sprintf("→ first answer after %s: %s", span(lasted), s.awake(ctx, leader, token)))
}

// awake thaws a node and returns what it was answered first.
func (s *stage) awake(ctx context.Context, m *member, token uint64) string {
	at := guard.Now()
	s.thaw(m)
	s.until(ctx, s.TTL+time.Second, func() bool { return m.woke.At >= at || m.process == nil })
	switch {
	case m.woke.At < at:
		return "no answer"
	case m.woke.Token == token:
		return "still leads"
	}
	return "not the leader"
}

func (s *stage) freeze(m *member) {
	m.frozen = true
	m.enter(frozen, guard.Now())
	_ = m.process.freeze() // only a process that is gone cannot be frozen
}

func (s *stage) thaw(m *member) {
	m.frozen = false
	m.quit(frozen, guard.Now())
	_ = m.process.thaw()
}

func (s *stage) stopLeader(ctx context.Context) {
	leader, token, at := s.onLeader("stop")
	leader.leaving = true
	if err := leader.process.stop(); err != nil {
		_ = leader.process.kill()
	}
	leader.restartAt = guard.Now().Add(s.TTL/4 + s.upTo(s.TTL/2))
	s.follow(ctx, at, token, &s.times.handOver)
}

func (s *stage) askLeader(ctx context.Context) { s.request(ctx, "resign", "") }

func (s *stage) transferSeat(ctx context.Context) {
	others := s.present(s.leader())
	s.request(ctx, "transfer", others[s.random.IntN(len(others))].id)
}

// request asks the leader to go, through the store alone.
func (s *stage) request(ctx context.Context, what, to string) {
	_, token, at := s.onLeader(what)
	s.pending.Wanted = to
	err := s.perform(ctx, func(ctx context.Context) error {
		_, err := tenure.Ask(ctx, s.store, s.Election, tenure.Request{To: to, By: "tenure demo"})
		return err
	})
	if err != nil {
		s.refused(err)
		return
	}
	s.follow(ctx, at, token, &s.times.handOver)
}

func (s *stage) killFollower(ctx context.Context) {
	others := s.present(s.leader())
	victim, token := others[s.random.IntN(len(others))], s.leader().term.Token
	s.begin(Event{What: "kill -9", Node: victim.id})
	s.kill(victim)
	s.pass(ctx, s.TTL/10)
	if leader := s.leader(); leader != nil && leader.term.Token == token {
		s.conclude(fmt.Sprintf("→ %s leads on with token %d", leader.id, token))
		return
	}
	s.conclude("→ the leader changed too")
}

func (s *stage) pauseElection(ctx context.Context) {
	leader, token, at := s.onLeader("pause")
	err := s.perform(ctx, func(ctx context.Context) error {
		_, err := tenure.SetPause(ctx, s.store, s.Election, tenure.Pause{By: "tenure demo", Reason: "a demo"})
		return err
	})
	if err != nil {
		s.refused(err)
		return
	}
	if !s.until(ctx, s.patience(), func() bool { return leader.term == nil }) {
		s.abandon()
		return
	}
	s.conclude("→ nobody leads after " + span(guard.Now().Sub(at)))
	s.pass(ctx, s.TTL/4+s.upTo(s.TTL/4))
	s.resumeElection(ctx, token)
}

func (s *stage) resumeElection(ctx context.Context, token uint64) {
	s.begin(Event{What: "resume"})
	at := guard.Now()
	err := s.perform(ctx, func(ctx context.Context) error {
		_, err := tenure.LiftPause(ctx, s.store, s.Election)
		return err
	})
	if err != nil {
		s.refused(err)
		return
	}
	s.follow(ctx, at, token, nil)
}
