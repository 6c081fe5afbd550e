package guard

import (
	"fmt"
	"time"
)

// Deadlines are the instants at which the command's group is ended unless they are extended before.
type Deadlines struct {
	// SignalAt is when the group gets the signal to stop.
	SignalAt Instant `json:"signal_at"`
	// KillAt is when everything that is left is killed. It lies before the end of the lease, by a margin for what
	// SIGKILL takes to act and for the second enforcer to notice that the first is stuck.
	KillAt Instant `json:"kill_at"`
}

// Within returns the deadlines for a lease that is trusted until the given instant and leaves drain after it for the
// work to stop. The command has three quarters of drain. The last quarter is the margin: a kill takes effect within
// milliseconds, but on a machine short of processors whoever sends it may wait for its turn.
func Within(trusted Instant, drain time.Duration) Deadlines {
	return Deadlines{SignalAt: trusted, KillAt: trusted.Add(drain - drain/4)}
}

func (d Deadlines) check() error {
	if d.SignalAt <= 0 || d.KillAt < d.SignalAt {
		return fmt.Errorf("guard: deadlines need 0 < SignalAt <= KillAt, not %v and %v", d.SignalAt, d.KillAt)
	}
	return nil
}

// grace is the time that the group has between the signal and the kill.
func (d Deadlines) grace() time.Duration { return d.KillAt.Sub(d.SignalAt) }

// patience is how long after a deadline the second enforcer leaves the matter to the first: a third of the margin of
// Within at most, so that it still acts before the lease ends.
func (d Deadlines) patience() time.Duration {
	return min(max(d.grace()/9, 5*time.Millisecond), 100*time.Millisecond)
}
