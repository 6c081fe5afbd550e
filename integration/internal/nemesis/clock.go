//go:build linux

package nemesis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/worker"
)

// moveClock moves the wall clock of a candidate that has one of its own, and later moves it back. The system has only
// one wall clock for all, so that candidates that read that cannot be told another time than the rest.
type moveClock struct{}

func (moveClock) Name() string { return "clock" }

func (moveClock) Unfit(s *Scene) string {
	if !s.has(movable) {
		return "no candidate has a clock of its own"
	}
	return ""
}

func movable(c *crew.Candidate) bool { return c.Movable }

func (moveClock) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	hold := shortOrLong(r, s.TTL)
	by := []time.Duration{s.TTL / 4, s.TTL, time.Hour, 24 * 365 * time.Hour}[r.IntN(4)]
	if r.IntN(2) == 0 {
		by = -by
	}
	c := s.draw(r, taken, movable)
	if c == nil {
		return nil
	}
	return &Attack{
		Fault: history.Fault{Targets: []string{c.Name}, Parameters: map[string]string{"by": by.String()}},
		Hold:  hold, Begin: func() error { return ordered(c, worker.OrderClock, by, "moved") },
		End: func() (string, error) {
			return fmt.Sprintf("its wall clock was moved by %v and back", by), ordered(c, worker.OrderClock, -by, "moved")
		},
	}
}

// ordered has a candidate do something, and checks that it has.
func ordered(c *crew.Candidate, order string, argument any, want string) error {
	answer, err := c.Order(strings.TrimSpace(fmt.Sprint(order, " ", argument)))
	if err == nil && !strings.HasPrefix(answer, want) {
		err = fmt.Errorf("%s: %s answers %q", order, c.Name, answer)
	}
	return err
}
