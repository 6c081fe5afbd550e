package protocol

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// planDraining waits for leader work to return, and keeps the lease meanwhile. Work that was only handed out has no
// end to wait for but the drain; a function that has not returned by then has overrun, and its seat is never released.
func (m *Machine) planDraining(now clock.Reading) {
	left := m.drainLeft(now)
	switch {
	case m.work == Unreported:
	case m.work == NoWork, m.work == HandedOut && left <= 0:
		m.drained(now)
	case left <= 0:
		m.overran()
	case m.term.renews:
		m.wakeAt(now.Mono + min(left, m.cfg.TTL/20))
		if lease := m.cfg.LeaseSpan() - now.Since(m.term.lease); lease > 0 {
			m.renewWhenDue(now, lease)
		}
	default:
		m.wakeAt(now.Mono + min(left, m.cfg.TTL/20))
	}
}

// drainLeft is what remains of the drain, and for functions of the lease as long as there is one.
func (m *Machine) drainLeft(now clock.Reading) time.Duration {
	left := m.handedOutFor(now)
	if m.term.release && m.work == Running {
		left = min(left, m.cfg.LeaseSpan()-now.Since(m.term.lease))
	}
	return left
}

// handedOutFor is for how long somebody may go on who was told of the term that ended last. Who was told that it leads
// gets the whole drain, even if a pause has eaten the lease: to release before that would invite the next leader. It
// counts by the monotonic clock, which nobody sets: a wall clock that is set forward ends no wait for others.
func (m *Machine) handedOutFor(now clock.Reading) time.Duration {
	return m.cfg.Drain - (now.Mono - m.term.ended.Mono)
}

func (m *Machine) drained(now clock.Reading) {
	m.work = NoWork
	if m.term.release {
		m.beginRelease(now)
		return
	}
	m.retire()
}

func (m *Machine) overran() {
	m.emit(Effect{Do: Overran, Token: m.term.token, Reason: "leader work has not returned within the drain"})
	m.state = Overrun
	if m.aim != stand {
		m.retire()
	}
}

// retire is where every way out of a term, and out of the election, ends.
func (m *Machine) retire() {
	if m.aim == stand || m.aim == standOnce && !m.led {
		m.state = Standing
		return
	}
	m.state, m.aim, m.reload, m.leaving = Off, leave, false, true
	if m.call.busy {
		m.emit(Effect{Do: CancelCall, Reason: "its reply is no longer of use"})
	}
}

// planOff reports the end of the candidacy, once nothing of it is in flight (S11).
func (m *Machine) planOff() {
	if m.leaving && !m.call.busy {
		m.leaving = false
		m.emit(Effect{Do: Done, Reason: "nothing is left to do"})
	}
}

// stop leaves the election.
func (m *Machine) stop(now clock.Reading) {
	m.aim = leave
	switch m.state {
	case Leading:
		m.end(now, Stopped, "the candidate was stopped")
		m.term.release = m.cfg.Release
		m.term.renews = m.cfg.Release
	case Standing:
		m.beginRelease(now)
	case Overrun:
		m.retire()
	}
}

// beginRelease gives back what the machine may hold. It is bounded by half a lease: what cannot be released by then is
// left to run out.
func (m *Machine) beginRelease(now clock.Reading) {
	m.state = Releasing
	m.releaseEnds = now.Add(m.cfg.TTL / 2)
	if m.call.busy && m.call.load {
		m.emit(Effect{Do: CancelCall, Reason: "its reply is no longer of use"})
	}
}

func (m *Machine) planReleasing(now clock.Reading) {
	base, needed := m.toVacate(now)
	left := -now.Since(m.releaseEnds)
	switch {
	case m.call.busy:
	case !needed || left <= 0:
		m.released()
	case m.reload:
		m.wakeAt(now.Mono + left)
		m.load(now, min(m.cfg.CallTimeout, left), "whose the record is must be known before it is released")
	case now.Mono < m.quiet:
		m.wakeAt(now.Mono + left)
		m.wakeAt(m.quiet)
	default:
		m.vacate(now, base, min(m.cfg.CallTimeout, left))
	}
}

func (m *Machine) released() {
	if r := m.sight.newest.Record; r.Vacant() && m.term.release && r.Token == m.term.token {
		m.emit(Effect{Do: Vacated, Token: r.Token, Record: r, Reason: "the record was written vacant"})
	}
	m.term.release = false
	m.attempts.settle(m.sight.newest.Record)
	m.retire()
}

// toVacate returns the state of the record from which the seat is to be given back: our own record; or one for which
// a bid of ours is in doubt, so that it can no longer land (S11).
func (m *Machine) toVacate(now clock.Reading) (base Snapshot, needed bool) {
	if m.ownsIdleRecord() || m.reload && m.sight.newest.Record.Session == m.cfg.Session {
		return m.sight.newest, m.cfg.Release || m.aim != leave || m.attempts.inDoubt()
	}
	o := m.sight.opening(&m.cfg)
	return o.base, m.attempts.inDoubt() && o.at <= now.Mono
}

func (m *Machine) vacate(now clock.Reading, base Snapshot, timeout time.Duration) {
	r := base.Record
	if !base.Exists() || base.Version != m.sight.newest.Version {
		r.Token = min(m.sight.highest+1, MaxToken) // the order of the history must not suffer
	}
	r.Leader, r.Session, r.Request, r.Reserved = "", "", Request{}, ""
	if m.ours(base.Record) {
		r.Reserved = m.term.keepFor
	}
	m.write(now, base, r, Release, timeout, "the seat is given back")
}
