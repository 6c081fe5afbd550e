package protocol

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

func (m *Machine) trustedUntil() clock.Reading { return m.term.lease.Add(m.cfg.Span()) }

func (m *Machine) planLeading(now clock.Reading) {
	left := m.cfg.Span() - now.Since(m.term.lease)
	r := m.sight.newest.Record
	switch {
	case left <= 0:
		m.expire(now, "the lease could not be renewed in time")
	case !m.healthy:
		m.end(now, Sick, "the health check failed")
	case m.ours(r) && r.TTL != m.cfg.TTL:
		m.depose(now, "somebody changed the TTL in the record, which others count by")
	case r.Paused:
		m.end(now, Resigned, "the election was paused")
		m.standoff = 0 // the pause itself keeps everybody away
	case r.Request.Token == m.term.token && r.Request.Token != 0:
		m.resign(now, r.Request.To, "on request")
	default:
		m.renewWhenDue(now, left)
	}
}

// renewWhenDue keeps the lease alive; each call is bounded by the time that is left.
func (m *Machine) renewWhenDue(now clock.Reading, left time.Duration) {
	// A clock that stood still must not keep the timer from noticing the end of the lease.
	m.wakeAt(now.Mono + min(left, m.cfg.TTL/20))
	timeout := min(m.cfg.CallTimeout, left)
	due := max(m.term.renewAt, m.quiet)
	switch {
	case m.call.busy:
	case m.reload:
		m.load(now, timeout, "the record was changed by somebody")
	case now.Mono < due:
		m.wakeAt(due)
	default:
		base := m.sight.newest
		if m.term.fromGap && m.sight.hasGap && m.ours(m.sight.gap.Record) { // a push may have shown another since
			base = m.sight.gap
		}
		r := base.Record
		r.Reserved = ""
		m.write(now, base, r, Renew, timeout, "the lease is due for renewal")
	}
}

// extend counts the lease from the sending of the attempt that landed, if that is later than what it counts from now.
func (m *Machine) extend(now clock.Reading, t attempt) {
	if t.sent.Mono <= m.term.lease.Mono {
		return
	}
	m.term.lease, m.term.fromGap = t.sent, false
	m.term.renewAt = t.sent.Mono + m.spread(m.cfg.RenewEvery)
	if m.state == Leading && now.Since(t.sent) < m.cfg.Span() {
		m.emit(Effect{Do: Extended, Token: t.token, Until: m.trustedUntil(), Reason: "the renewal landed"})
	}
}

// doubt follows a load that showed something lower than our record, which a conflict has proved to be replaced. Reads
// may lag, so that a few of them, over a while, have to agree. An older state of our own term is then renewed from: if
// the store has not gone back to it, it refuses that.
func (m *Machine) doubt(now clock.Reading, s Snapshot) {
	if !m.sight.gone() || !m.held() && m.state != Releasing {
		return
	}
	if m.term.doubts == 0 {
		m.term.doubtedAt = now.Mono
	}
	m.term.doubts++
	switch {
	case m.term.doubts < 3 || now.Mono-m.term.doubtedAt < m.cfg.TTL/5:
		m.lookAgain(now)
	case m.secure(now, s):
		m.term.fromGap = true
	default:
		m.depose(now, "the record is gone or went back")
	}
}

// secure reports whether s is a state of our own term, and its lease still stands: then nobody else has led since.
func (m *Machine) secure(now clock.Reading, s Snapshot) bool {
	return m.held() && m.ours(s.Record) && now.Since(m.term.lease) < m.cfg.LeaseSpan()
}

// depose ends a term whose record is another's: there is nothing left to renew or to release.
func (m *Machine) depose(now clock.Reading, reason string) {
	m.end(now, Deposed, reason)
	m.term.renews, m.term.release = false, false
}

// expire ends a term that nobody trusts any more. Only what is still on its way to the store is given up with it: the
// seat is released once the work has returned, if that is before somebody else takes it.
func (m *Machine) expire(now clock.Reading, reason string) {
	if m.state != Leading {
		return
	}
	m.end(now, LeaseExpired, reason)
	m.term.renews = false
}

func (m *Machine) unhealthy(now clock.Reading) {
	m.healthy, m.judged = false, true
	m.end(now, Sick, "the health check failed")
}

// resign leaves the seat, kept for the candidate to if that is named, and leaves it to others for a while.
func (m *Machine) resign(now clock.Reading, to, reason string) {
	if m.state != Leading {
		return
	}
	m.end(now, Resigned, reason)
	m.term.keepFor = to
	m.standOff(now)
}

// end tells leader work to stop.
func (m *Machine) end(now clock.Reading, cause Cause, reason string) {
	if m.state != Leading {
		return
	}
	m.state, m.work = Draining, Unreported
	m.term.ended, m.term.renews, m.term.release = now, true, true
	m.emit(Effect{Do: Ended, Cause: cause, Token: m.term.token, Reason: reason})
}
