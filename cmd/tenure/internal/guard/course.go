package guard

// phase is how far the end of a group has come. It only ever grows.
type phase uint8

const (
	leading  phase = iota // the group may run
	draining              // it has been told to stop
	killing               // it is killed, as often as it takes
)

// course decides what becomes of a group: deadlines, orders and times in, a phase out. It has no clock and does
// nothing by itself, and both enforcers, the guard and the supervisor behind it, follow one.
type course struct {
	deadlines Deadlines
	phase     phase
	killAt    Instant // the end of the drain, once there is one
	cause     Cause   // why the group ends: what came first
}

// advance moves the phase on to what the deadlines demand.
func (c *course) advance(now Instant) {
	if c.phase == leading && now >= c.deadlines.SignalAt {
		c.drain(c.deadlines.KillAt, CauseDeadline)
	}
	if c.phase == draining && now >= c.killAt {
		c.enter(killing, CauseDeadline)
	}
}

func (c *course) enter(next phase, cause Cause) {
	if c.phase == leading {
		c.cause = cause
	}
	c.phase = max(c.phase, next)
}

// obey takes an order in. The clock is judged first: what a deadline has ended no order revives.
func (c *course) obey(now Instant, o order) {
	c.advance(now)
	switch o.Kind {
	case orderExtend:
		if c.phase == leading {
			c.deadlines = o.Deadlines
		}
	case orderTerminate:
		c.drain(o.Deadlines.KillAt, CauseAsked)
	case orderKill:
		c.enter(killing, CauseAsked)
	}
	c.advance(now)
}

// drain gives the group until killAt to stop, but never longer than it had before.
func (c *course) drain(killAt Instant, cause Cause) {
	if c.phase == leading {
		c.killAt = c.deadlines.KillAt
	}
	c.killAt = min(c.killAt, killAt)
	c.enter(draining, cause)
}

// exited ends what the command left behind, with the time to stop that any group has.
func (c *course) exited(now Instant) {
	c.advance(now)
	if c.phase == leading {
		c.drain(now.Add(c.deadlines.grace()), CauseExit)
	}
}

// abandon ends a group at once that has lost its supervisor, because nobody holds the lead, or its guard.
func (c *course) abandon(cause Cause) { c.enter(killing, cause) }

// next returns when advance is due again.
func (c *course) next() Instant {
	if c.phase == leading {
		return c.deadlines.SignalAt
	}
	return c.killAt
}
