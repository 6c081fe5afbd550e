package protocol

import (
	"fmt"

	"github.com/tenure-go/tenure/internal/clock"
)

// pushed takes in a snapshot from the watch. It makes the load that may be due needless, unless it is lower than what
// was seen before: then a load is what tells an old state from a lost one.
func (m *Machine) pushed(now clock.Reading, s Snapshot) {
	if m.state == Off {
		return // it was on its way when the watch ended
	}
	if !m.watching {
		m.watching, m.watchSince = true, now.Mono
	}
	hadGap, wasPaused := m.sight.hasGap, m.sight.newest.Record.Paused
	switch m.see(now, s, true) {
	case same:
		m.call.crossed = true
		if s.Record.Paused != wasPaused && !m.confirm {
			m.confirm, m.confirmAt = true, now.Mono+m.share(m.cfg.PollEvery)
		}
		m.reload = false
		if m.failures == 0 {
			m.quiet = 0
		}
	case lower:
		m.reload = m.reload || !hadGap && !m.held()
	}
}

// watchLost follows the interruption of a watch. Those who stood by with it look again within a poll interval, and not
// all at once; a watch that comes and goes puts nothing off.
func (m *Machine) watchLost(now clock.Reading) {
	if !m.watching {
		return
	}
	m.watching, m.watchEnds = false, now.Mono+m.cfg.TTL
	if now.Mono-m.watchSince >= m.pollEvery() {
		m.pollAt = now.Mono + m.share(m.pollEvery())
	}
}

// learn takes in what a Load has shown. One that was crossed by a push tells as little about the order of two states of
// one mark as the push does, and is repeated.
func (m *Machine) learn(now clock.Reading, s Snapshot, crossed bool) {
	before := m.sight.newest.Version
	switch m.see(now, s, crossed) {
	case same:
		m.reload = m.reload || crossed && s.Version != before
	case stale:
		m.learnPast(now, s)
	case lower:
		m.doubt(now, s)
		if m.sight.gapSince == now.Mono && !m.held() {
			m.rewatch(now)
		}
	case newer:
		m.rewatch(now)
	}
}

// learnPast takes in a load that shows what a conflict or an earlier load has proved to be past. Two such loads may be
// old states; with the third the store has gone back to it, and what had replaced it is lost. A leader finds that out
// by its next renewal: if there is still something that replaced the state, the store refuses it.
func (m *Machine) learnPast(now clock.Reading, s Snapshot) {
	switch {
	case !m.sight.insists(s.Version):
		m.lookAgain(now)
	case m.sight.isPast(s):
		m.sight.revive(s)
	case m.secure(now, s):
		m.sight.wentBack(now.Mono, s)
		m.term.fromGap = true
	default:
		m.sight.wentBack(now.Mono, s)
		m.doubt(now, s)
	}
}

// lookAgain loads once more after a pause.
func (m *Machine) lookAgain(now clock.Reading) {
	m.reload = true
	wait := m.cfg.Backoff.Initial
	if m.held() {
		wait = min(wait, m.patience(now))
	}
	m.pause(now, wait)
}

// rewatch follows a load that showed what the watch did not tell. A watch that is known to be interrupted has a lease
// to come back by itself.
func (m *Machine) rewatch(now clock.Reading) {
	if !m.cfg.Watch || !m.watching && now.Mono < m.watchEnds {
		return
	}
	m.watching, m.watchEnds = false, now.Mono+m.cfg.TTL
	m.emit(Effect{Do: Rewatch, Reason: "the record changed and the watch did not tell"})
}

// see judges a snapshot, whatever way it came.
func (m *Machine) see(now clock.Reading, s Snapshot, pushed bool) verdict {
	before := m.sight.newest.Record
	known := m.sight.known
	v := m.sight.observe(now.Mono, s, pushed)
	if r := s.Record; r.Session == m.cfg.Session && !m.attempts.made(r.Renewals) &&
		(v == newer || !m.attempts.forgot(r.Renewals)) {
		m.copied(now)
	}
	switch v {
	case newer:
		m.moved(now, s)
		if r := s.Record; !known && s.Exists() || known && (r.Token != before.Token || r.Session != before.Session) {
			m.emit(Effect{Do: LeaderChanged, Token: r.Token, Reason: "another term was seen"})
		}
	case same:
		m.landed(now, s.Record)
	}
	if s.Revoked && m.ours(s.Record) { // whatever else the snapshot is: what was revoked does not come back
		m.end(now, Revoked, "the store no longer vouches for the term")
	}
	return v
}

// moved follows a record that is newer than all before.
func (m *Machine) moved(now clock.Reading, s Snapshot) {
	m.rejected, m.reload, m.confirm, m.quiet = 0, false, false, 0
	m.delay = m.cfg.PriorityDelay + m.share(m.cfg.BidSpread)
	m.landed(now, s.Record)
	m.attempts.settle(s.Record)
	if m.held() && !m.ours(s.Record) {
		m.depose(now, "another record has taken the place of ours")
	}
}

// copied follows a record of our session that we did not write: somebody runs with all that we remember, our session
// and token too, as after a snapshot that was restored twice. Who has written goes on; the other is another candidate
// from now on, and nothing of the old session is its own.
func (m *Machine) copied(now clock.Reading) {
	m.depose(now, "another copy of this process renews the lease")
	m.cfg.Session = fmt.Sprintf("%016x%016x", m.fresh.Uint64(), m.fresh.Uint64())
	m.attempts = attempts{count: m.attempts.count}
	m.emit(Effect{Do: Copied, Token: m.term.token, Reason: "the record was written by a copy of this process"})
}

// landed gives the term what the attempt that made the record is worth.
func (m *Machine) landed(now clock.Reading, r Record) {
	if r.Session != m.cfg.Session {
		return
	}
	t, found := m.attempts.landed(r)
	switch {
	case !found:
	case !m.held() && r.Token <= m.term.token:
		// A renewal of a term that is over: its record is ours to supersede, its token is not led again (S2).
	case m.state == Standing && r.TTL != m.cfg.TTL:
		m.emit(Effect{Do: CallFailed, Outcome: Permanent, Reason: "the store did not keep the TTL as written"})
		m.standoff, m.standoffEnds = MaxToken, now.Mono+m.cfg.TTL // whoever leads meanwhile: two of us would take turns
	case m.state == Standing:
		m.elect(now, t)
	case m.held() && r.Token == m.term.token:
		m.extend(now, t)
	}
}

// ours reports whether the record is that of the machine's own term: by session and token, never by the ID alone (S5).
func (m *Machine) ours(r Record) bool { return r.Session == m.cfg.Session && r.Token == m.term.token }
