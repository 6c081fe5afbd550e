//go:build linux

package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// starve leaves a candidate next to nothing of the processor.
type starve struct{}

func (starve) Name() string { return "starve" }

func (starve) Unfit(s *Scene) string {
	if !s.has(func(c *crew.Candidate) bool { return c.Group.Starves() }) {
		return "no control group with the processor's controller can be made here"
	}
	return ""
}

func (starve) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	hold, share := between(r, s.TTL, 3*s.TTL), 0.001+0.004*r.Float64()
	// What stands by under tenure run wants so little of the processor that it would not notice.
	c := s.draw(r, taken, func(c *crew.Candidate) bool {
		return c.Group.Starves() && (library(c) || c.Name == s.leader())
	})
	if c == nil {
		return nil
	}
	var before int
	return &Attack{
		Fault: history.Fault{
			Targets: []string{c.Name}, Parameters: map[string]string{"share": fmt.Sprintf("%.3f", share)},
		},
		Hold: hold,
		Begin: func() error {
			before = c.Group.Throttled()
			return c.Group.Starve(share)
		},
		End: func() (string, error) {
			throttled := c.Group.Throttled() - before
			err := c.Group.Starve(0)
			if throttled <= 0 {
				err = errors.Join(err, errors.New("it was never kept from the processor"))
			}
			return fmt.Sprintf("it was kept from the processor %d times", throttled), err
		},
	}
}
