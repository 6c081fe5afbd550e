package protocol

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// call is the one call that may be in flight.
type call struct {
	busy    bool
	load    bool
	crossed bool // another state of the same mark was pushed since the load was sent
	purpose Purpose
	base    identity // of what a write expects
	sent    time.Duration
}

// load reads the record, unless a pause after a failure has to pass first.
func (m *Machine) load(now clock.Reading, timeout time.Duration, reason string) {
	if now.Mono < m.quiet {
		m.wakeAt(m.quiet)
		return
	}
	m.call = call{busy: true, load: true, sent: now.Mono}
	m.emit(Effect{Do: Load, Timeout: timeout, Reason: reason})
}

// write swaps base for r, which gets a number of its own. Who writes over a bid of its own without having led by it
// never will, whatever comes of the write: a read that lags may show the bid again when somebody else has the seat.
func (m *Machine) write(now clock.Reading, base Snapshot, r Record, p Purpose, timeout time.Duration, reason string) {
	if p != Renew && base.Record.Session == m.cfg.Session {
		m.attempts.disown(base.Record)
	}
	r = m.attempts.begin(r, now, m.fresh.Uint64())
	m.call = call{busy: true, purpose: p, base: base.identity(), sent: now.Mono}
	m.emit(Effect{Do: Write, Base: base, Record: r, Purpose: p, Timeout: timeout, Token: r.Token, Reason: reason})
}

// loaded takes in the reply to a Load.
func (m *Machine) loaded(now clock.Reading, in Input) {
	done := m.call
	m.call = call{}
	if in.Outcome == OK {
		m.failures, m.reload, m.confirm = 0, false, false
		m.learn(now, in.Snapshot, done.crossed)
	} else {
		m.failed(now, in, done)
		if m.aim == try && m.state == Standing {
			m.beginRelease(now)
		}
	}
	m.pollAt = now.Mono + m.spread(m.pollEvery())
}

// wrote takes in the reply to a Write.
func (m *Machine) wrote(now clock.Reading, in Input) {
	done := m.call
	m.call = call{}
	switch in.Outcome {
	case OK:
		m.failures = 0
		m.see(now, in.Snapshot, false)
	case Conflict:
		m.failures = 0 // an answer
		m.conflict(now, done)
	case NotApplied, Permanent:
		m.attempts.dropLast()
		m.failed(now, in, done)
	default:
		m.reload = !m.held()
		m.failed(now, in, done)
	}
}

// conflict follows a write that found another version: ours may have landed before, by an attempt whose reply was
// lost or that the library under the store repeated, so only a fresh look tells (S7).
func (m *Machine) conflict(now clock.Reading, done call) {
	m.sight.conflicted(done.base)
	if m.sight.newest.identity() != done.base && !m.sight.hasGap {
		return // a newer record has arrived in the meantime, and was judged
	}
	m.reload, m.term.doubts, m.term.fromGap = true, 0, false
	switch {
	case done.purpose == Renew:
	case m.watching && done.purpose == Bid:
		m.pause(now, m.cfg.CallTimeout) // the push of what replaced it is on its way
	default:
		m.rejected++
		if m.rejected > 1 {
			m.pause(now, m.cfg.Backoff.delay(m.rejected, m.random))
		}
	}
}

// manyFailures in a row slow a candidate down to ten calls in a TTL, however short its back-off is.
const manyFailures = 10

// failed spaces the calls to a store that fails.
func (m *Machine) failed(now clock.Reading, in Input, done call) {
	m.failures++
	m.emit(Effect{Do: CallFailed, Outcome: in.Outcome, Reason: "a call to the store failed"})
	wait, asked := m.cfg.Backoff.delay(m.failures, m.random), min(in.RetryAfter, max(m.cfg.Backoff.Max, m.cfg.TTL))
	switch {
	case m.held():
		// A call that took its whole time has kept the distance: the pause must not cost the lease.
		wait = min(wait, m.patience(now)) - (now.Mono - done.sent)
		asked = min(asked, m.spare(now))
	case m.failures > manyFailures:
		wait = max(wait, m.cfg.TTL/10)
	}
	m.pause(now, max(wait, asked, 0))
	if m.state == Leading && m.cfg.MaxFailures > 0 && m.failures >= m.cfg.MaxFailures {
		m.end(now, Sick, "too many failures in a row")
		m.standOff(now)
	}
}

// patience is the longest pause of a leader: a tenth of the TTL, and no longer than leaves a call its time before the
// lease ends. That the lease has room for a lost renewal and one more (Config.Check) is worth nothing otherwise.
func (m *Machine) patience(now clock.Reading) time.Duration {
	return min(m.cfg.TTL/10, m.spare(now))
}

// spare is the longest time that a leader can do nothing and still make one more call that takes all its time; a
// hundredth of the TTL at least, since a store that fails at once must not be called without a pause.
func (m *Machine) spare(now clock.Reading) time.Duration {
	return max(m.cfg.Span()-now.Since(m.term.lease)-m.cfg.CallTimeout, m.cfg.TTL/100)
}

func (m *Machine) pause(now clock.Reading, d time.Duration) { m.quiet = now.Mono + d }
