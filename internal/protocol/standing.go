package protocol

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

var aims = map[Kind]aim{Stand: stand, StandOnce: standOnce, Try: try}

// start makes the machine stand. A candidate with unreturned work waits for that first (S8).
func (m *Machine) start(now clock.Reading, kind Kind) {
	if m.state != Off || m.leaving {
		return
	}
	m.aim, m.state = aims[kind], Standing
	m.failures, m.rejected, m.quiet, m.confirm = 0, 0, 0, false
	m.healthy, m.judged = !m.cfg.HealthChecked, !m.cfg.HealthChecked
	m.reload, m.watching, m.tried, m.led = true, false, false, false
	m.sight.heard, m.pollAt, m.watchEnds = now.Mono, now.Mono, now.Mono+m.cfg.TTL
	if m.cfg.Watch && m.aim != try {
		m.pause(now, m.cfg.CallTimeout) // the watch begins with the current state
	}
	if m.work != NoWork {
		m.state = Overrun
	}
}

// workChanged takes in what remains of leader work. What was only handed out counts until the drain has passed, and no
// more once the machine stands again.
func (m *Machine) workChanged(now clock.Reading, w Work) {
	if w == HandedOut && m.state != Draining && (m.handedOutFor(now) <= 0 || m.state != Overrun && m.state != Off) {
		w = NoWork
	}
	m.work = w
}

// planOverrun waits for the return of work that overran, and for the rest of the drain where a function has returned
// before that and something else was told that it leads.
func (m *Machine) planOverrun(now clock.Reading) {
	left := m.handedOutFor(now)
	switch {
	case m.work == NoWork, m.work == HandedOut && left <= 0:
		m.work, m.state = NoWork, Standing
	case m.work == HandedOut:
		m.wakeAt(now.Mono + left)
	}
}

func (m *Machine) planStanding(now clock.Reading) {
	switch {
	case m.call.busy:
	case m.reload:
		m.load(now, m.cfg.CallTimeout, "the record must be read first")
	case !m.sight.known:
		m.await(now)
	case m.ownsIdleRecord() && m.judged && !m.willing(now):
		m.beginRelease(now)
	default:
		m.bidWhenOpen(now)
	}
}

// willing reports whether the candidate would lead now if the seat were free.
func (m *Machine) willing(now clock.Reading) bool {
	return m.healthy && m.work == NoWork && !m.sight.paused() && !m.standingOff(now)
}

// standingOff reports whether the candidate still leaves the seat that it resigned to others.
func (m *Machine) standingOff(now clock.Reading) bool {
	return m.aim != try && m.standoff != 0 && m.sight.token() <= m.standoff && now.Mono < m.standoffEnds
}

// ownsIdleRecord reports whether the record bears our session though nothing acts under it: a bid that was won too
// late, a release that was lost, work that overran and has returned since. One that is gone from the store is no
// longer ours to write over: it vanished like anybody's.
func (m *Machine) ownsIdleRecord() bool {
	return m.sight.newest.Record.Session == m.cfg.Session && m.sight.known && !m.sight.gone()
}

// opening is when and from which state the machine may bid. What it owns is open at once.
func (m *Machine) opening(now clock.Reading) opening {
	if m.ownsIdleRecord() && !m.sight.newest.Record.Paused {
		return opening{now.Mono, m.sight.newest, "the record is our own and nothing acts under it"}
	}
	o := m.sight.opening(&m.cfg)
	if m.aim != try && o.base.Record.Reserved != m.cfg.ID {
		o.at += m.delay
	}
	return o
}

func (m *Machine) bidWhenOpen(now clock.Reading) {
	if !m.willing(now) {
		m.wakeAt(m.standoffWake(now))
		m.await(now)
		return
	}
	o := m.opening(now)
	if now.Mono < o.at {
		m.wakeAt(o.at)
		m.await(now)
		return
	}
	if m.aim == try && m.tried {
		m.beginRelease(now)
		return
	}
	m.tried = true
	m.bid(now, o)
}

// standOff leaves the seat to others until one of them has led, for a lease at most.
func (m *Machine) standOff(now clock.Reading) {
	m.standoff, m.standoffEnds = m.term.token, now.Mono+m.cfg.TTL
}

func (m *Machine) standoffWake(now clock.Reading) time.Duration {
	if m.standingOff(now) {
		return m.standoffEnds
	}
	return never
}

// bid tries to begin a term from the state o.base.
func (m *Machine) bid(now clock.Reading, o opening) {
	if now.Mono < m.quiet {
		m.wakeAt(m.quiet)
		return
	}
	token := m.sight.highest + 1
	if token > MaxToken {
		m.failures++
		m.emit(Effect{Do: CallFailed, Outcome: Permanent, Token: m.sight.highest, Reason: "no token is left"})
		m.pause(now, m.cfg.TTL)
		m.wakeAt(m.quiet)
		return
	}
	r := Record{Token: token, Leader: m.cfg.ID, Session: m.cfg.Session, TTL: m.cfg.TTL}
	m.write(now, o.base, r, Bid, min(m.cfg.CallTimeout, m.cfg.Span()), o.reason)
}

// pollEvery is how long after one look the next follows. A look has to come before the lease of a living leader seems
// to have run out, or every time it does so costs a bid that is rejected.
func (m *Machine) pollEvery() time.Duration {
	if r := m.sight.present().Record; r.TTL > 0 && (!r.Vacant() || r.Reserved != "") {
		return min(m.cfg.PollEvery, max(r.TTL/3*2, minPoll))
	}
	return m.cfg.PollEvery
}

// minPoll bounds how often a candidate looks at the lease of another, whatever TTL somebody wrote into the record by
// hand. No candidate's own TTL is so short that it would matter.
const minPoll = 50 * time.Millisecond

// await watches or polls while there is nothing to bid for.
func (m *Machine) await(now clock.Reading) {
	if m.aim == try && m.sight.known && m.judged {
		m.beginRelease(now)
		return
	}
	due, reason := m.nextLook()
	if now.Mono < due {
		m.wakeAt(due)
		return
	}
	m.load(now, m.cfg.CallTimeout, reason)
}

// nextLook is when a candidate that waits has to load the record next, and why.
func (m *Machine) nextLook() (due time.Duration, reason string) {
	due = m.sight.heard + m.cfg.Wait(max(m.sight.present().Record.TTL, m.cfg.TTL))
	reason = "nothing was heard for a lease"
	if !m.watching && m.pollAt < due {
		due, reason = m.pollAt, "poll"
	}
	if m.confirm && m.confirmAt < due {
		due, reason = m.confirmAt, "a push may have shown what is past"
	}
	return due, reason
}

// elect begins the term of an attempt that landed. The lease counts from before its sending; a reply later than the
// lease is no win (S3), and a seat that is not wanted any more is left to ownsIdleRecord.
func (m *Machine) elect(now clock.Reading, t attempt) {
	if !m.willing(now) || now.Since(t.sent) >= m.cfg.Span() {
		return
	}
	m.state, m.led = Leading, true
	m.term = term{token: t.token, lease: t.sent, renewAt: t.sent.Mono + m.spread(m.cfg.RenewEvery)}
	m.reload, m.failures, m.quiet, m.standoff = false, 0, 0, 0
	m.emit(Effect{Do: Elected, Token: t.token, Until: m.trustedUntil(), Reason: "the bid landed"})
}
