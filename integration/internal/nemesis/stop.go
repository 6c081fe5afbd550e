//go:build linux

package nemesis

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// stopShort stops a candidate with SIGSTOP for less than its lease.
type stopShort struct{}

func (stopShort) Name() string { return "stop-short" }

func (stopShort) Unfit(*Scene) string { return "" }

func (stopShort) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return planStop(s, r, taken, between(r, s.TTL/20, s.TTL/2))
}

// stopLong stops it for longer.
type stopLong struct{}

func (stopLong) Name() string { return "stop-long" }

func (stopLong) Unfit(*Scene) string { return "" }

func (stopLong) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return planStop(s, r, taken, between(r, s.TTL*5/4, s.TTL*9/4))
}

// planStop stops a candidate of the library, or one of tenure run or its command. The guard between those two is what
// has to notice; what stops it too is freeze.
func planStop(s *Scene, r *rand.Rand, taken []string, hold time.Duration) *Attack {
	ofCommand := r.IntN(2) == 0
	c := s.draw(r, taken, nil)
	if c == nil {
		return nil
	}
	pid, name := c.PID(), target(c)
	if command := c.Command(); ofCommand && command != 0 {
		pid, name = command, c.Name
	}
	return &Attack{
		Fault: history.Fault{
			// A command whose term ends meanwhile is told to go on by its guard, so that it can end.
			Targets: []string{name}, Freezes: !c.Supervised, Parameters: map[string]string{"for": hold.String()},
		},
		Hold: hold,
		Begin: func() error {
			s.catch(c)
			return crew.Halt(pid)
		},
		End: func() (string, error) {
			return fmt.Sprintf("process %d was stopped", pid), crew.Continue(pid)
		},
	}
}

// freeze freezes a candidate's control group, with everything that tenure run has started: its guard too.
type freeze struct{}

func (freeze) Name() string { return "freeze" }

func (freeze) Unfit(s *Scene) string {
	if !s.has(func(c *crew.Candidate) bool { return c.Group.Freezes() }) {
		return "no control group of version 2 can be made here"
	}
	return ""
}

func (freeze) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	hold := shortOrLong(r, s.TTL)
	c := s.draw(r, taken, func(c *crew.Candidate) bool { return c.Group.Freezes() })
	if c == nil {
		return nil
	}
	return &Attack{
		Fault: history.Fault{
			Targets: []string{c.Name}, Freezes: true, Parameters: map[string]string{"for": hold.String()},
		},
		Hold: hold,
		Begin: func() error {
			s.catch(c)
			return c.Group.Freeze()
		},
		End: func() (string, error) { return "the kernel said that the group was frozen", c.Group.Thaw() },
	}
}
