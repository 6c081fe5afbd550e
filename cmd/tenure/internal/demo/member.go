package demo

import "github.com/tenure-go/tenure/cmd/tenure/internal/guard"

// member is a node as the demo sees it, through all its lives.
type member struct {
	id      string
	process *process // nil while there is none
	up      bool     // it stands for election
	frozen  bool
	leaving bool // its process is about to end, as was wanted

	term  *term         // the term under which work runs, nil if none does
	until guard.Instant // until when it is trusted without a further renewal
	woke  report        // its first answer after the last freeze

	restartAt guard.Instant // when it is to start again, zero if never
	times     []stretch
}

// term is one leadership of a process.
type term struct {
	Trust
	led    guard.Instant // when work began
	reason string        // why work had to return
}

// condition is what a process was in during a stretch of time.
type condition string

const (
	alive  condition = "alive"
	frozen condition = "frozen"
)

// stretch is a time through which a node was in one condition. To is zero while it lasts.
type stretch struct {
	condition
	from, to guard.Instant
}

// present reports whether the node takes part and can act.
func (m *member) present() bool { return m.process != nil && m.up && !m.frozen && !m.leaving }

// state is one word for people.
func (m *member) state() string {
	switch {
	case m.process == nil:
		return "dead"
	case m.frozen:
		return "frozen"
	case m.leaving:
		return "leaving"
	case !m.up:
		return "starting"
	case m.term != nil:
		return "leader"
	}
	return "candidate"
}

// enter begins a stretch.
func (m *member) enter(c condition, at guard.Instant) {
	m.times = append(m.times, stretch{condition: c, from: at})
}

// quit ends the newest stretch in that condition.
func (m *member) quit(c condition, at guard.Instant) {
	for i := range m.times {
		if s := &m.times[i]; s.condition == c && s.to == 0 {
			s.to = at
		}
	}
}

// ended notes that the node's process is gone.
func (m *member) ended(at guard.Instant) {
	m.quit(frozen, at)
	m.quit(alive, at)
	m.process, m.up, m.frozen, m.leaving, m.term, m.until = nil, false, false, false, nil, 0
}
