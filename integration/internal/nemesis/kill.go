//go:build linux

package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// supervisor is the name, as a target, of the process that runs a command: it has no history, and its command's goes on
// until its guard has ended that.
func supervisor(c *crew.Candidate) string { return c.Name + "'s supervisor" }

// target is the name of a candidate's own process.
func target(c *crew.Candidate) string {
	if c.Supervised {
		return supervisor(c)
	}
	return c.Name
}

// kill ends a candidate with kill -9, and starts it again later, or the command of tenure run alone.
type kill struct{}

func (kill) Name() string { return "kill" }

func (kill) Unfit(*Scene) string { return "" }

func (kill) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	ofCommand, hold := r.IntN(2) == 0, shortOrLong(r, s.TTL)
	c := s.draw(r, taken, nil)
	if c == nil {
		return nil
	}
	if ofCommand && c.Command() != 0 {
		return s.killCommand(c, hold)
	}
	return &Attack{
		Fault: history.Fault{Targets: []string{target(c)}, Kills: !c.Supervised}, Hold: hold, Moment: true,
		Begin: c.Kill, End: func() (string, error) { return "it was started again", c.Start() },
	}
}

// killCommand ends a command alone, which its supervisor starts again under the same token. One that has ended since it
// was drawn has its supervisor killed in its place.
func (s *Scene) killCommand(c *crew.Candidate, hold time.Duration) *Attack {
	killed, began := 0, time.Time{}
	return &Attack{
		// The next life may begin before it is noted that this one has ended, so that this is not told of the fault.
		Fault: history.Fault{Targets: []string{c.Name}}, Hold: hold, Moment: true,
		Begin: func() (err error) {
			if killed, err = c.KillCommand(); err == nil && killed == 0 {
				err = c.Kill()
			}
			began = time.Now()
			return err
		},
		End: func() (string, error) {
			if killed == 0 {
				return "its command had ended, and its supervisor was started again", c.Start()
			}
			return s.replaced(c, killed, began)
		},
	}
}

// replaced waits until another command runs in the place of one that was killed, and says so. If the term was over
// before that, as it can be when another fault strikes at the same time, somebody else's work shows it.
func (s *Scene) replaced(c *crew.Candidate, killed int, since time.Time) (string, error) {
	for end := time.Now().Add(answersWithin); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if pid := c.Command(); pid != 0 && pid != killed {
			return fmt.Sprintf("process %d was gone, and process %d ran in its place", killed, pid), nil
		}
		if last, _ := s.Registers.Last(); last.At.After(since) && last.Process != c.Name {
			return fmt.Sprintf("process %d was gone, and %s led after it", killed, last.Process), nil
		}
	}
	return "", fmt.Errorf("process %d was killed, and within %v nothing ran in its place", killed, answersWithin)
}

// killAll ends all candidates at once.
type killAll struct{}

func (killAll) Name() string { return "kill-all" }

func (killAll) Unfit(*Scene) string { return "" }

func (killAll) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	hold := shortOrLong(r, s.TTL)
	if len(taken) > 0 {
		return nil
	}
	a := &Attack{Fault: history.Fault{Kills: true}, Hold: hold, Moment: true}
	for _, c := range s.Candidates {
		a.Targets = append(a.Targets, target(c))
	}
	a.Begin = func() error { return each(s.Candidates, (*crew.Candidate).Kill) }
	a.End = func() (string, error) { return "all were started again", each(s.Candidates, (*crew.Candidate).Start) }
	return a
}

// each does something with every candidate that runs, or that is to.
func each(candidates []*crew.Candidate, do func(*crew.Candidate) error) error {
	var errs []error
	for _, c := range candidates {
		errs = append(errs, do(c))
	}
	return errors.Join(errs...)
}

// wipe removes all that the store keeps, while everybody is dead. No store is allowed to lose that.
type wipe struct{}

func (wipe) Name() string { return "wipe" }

func (wipe) Unfit(s *Scene) string {
	if !s.Wiping || s.Server.Wipe == nil {
		return "it is for runs that have to fail"
	}
	return ""
}

func (wipe) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	a := killAll{}.Plan(s, r, taken)
	if a == nil {
		return nil
	}
	all := slices.Clone(s.Candidates)
	a.End = func() (string, error) {
		if err := s.Server.Wipe(); err != nil {
			return "", fmt.Errorf("wipe the store: %w", err)
		}
		return "the store was wiped, and all were started again", each(all, (*crew.Candidate).Start)
	}
	return a
}
