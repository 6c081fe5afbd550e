//go:build linux

package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/network"
)

// drop has the kernel lose all packets between a candidate and the store, both ways or one. TCP sends again, ever more
// rarely, so that after it has healed a connection may stand still for as long again.
type drop struct{}

func (drop) Name() string { return "drop" }

func (drop) Unfit(s *Scene) string { return joined(s) }

func (drop) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	all := network.Directions()
	direction := all[r.IntN(len(all))]
	a := onCables(s, r, taken, func(n *network.Network) (undo, error) {
		outage, err := n.Drop(direction)
		return func() (string, error) {
			packets, err := outage.Heal()
			return fmt.Sprintf("%d packets vanished", packets), err
		}, err
	})
	if a != nil {
		a.Parameters = map[string]string{"direction": string(direction)}
	}
	return a
}

// unplug takes the link between a candidate and the store down: there is no way any more, which the kernel tells at
// once to whoever connects, and not to who waits for an answer.
type unplug struct{}

func (unplug) Name() string { return "unplug" }

func (unplug) Unfit(s *Scene) string { return joined(s) }

func (unplug) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	return onCables(s, r, taken, func(n *network.Network) (undo, error) {
		outage, err := n.Unplug()
		return func() (string, error) {
			return "there was no way to the store, and there is one again", outage.PlugIn()
		}, err
	})
}

// joined says why no cable lies between a candidate and its proxies.
func joined(s *Scene) string {
	switch {
	case unreached(s) != "":
		return unreached(s)
	case s.Shared != nil:
		return fmt.Sprintf("no candidate can have a network of its own here: %v", s.Shared)
	case !s.has(apart):
		return "no candidate has a network of its own"
	}
	return ""
}

// apart tells who has a network of its own.
func apart(c *crew.Candidate) bool { return c.Line != nil && c.Line.Network != nil }

// undo ends what was done to one cable, and tells what was seen of it.
type undo func() (effect string, err error)

// onCables plans something that is done to the cable of a candidate, or of all: then nobody leads until the store can
// be reached again, and whoever is to lead has to find out that it can.
func onCables(s *Scene, r *rand.Rand, taken []string, begin func(*network.Network) (undo, error)) *Attack {
	hold, everybody := shortOrLong(r, s.TTL), r.IntN(3) == 0
	one := s.draw(r, taken, apart)
	if one == nil {
		return nil
	}
	struck := []*crew.Candidate{one}
	if everybody && len(taken) == 0 {
		struck = slices.DeleteFunc(slices.Clone(s.Candidates), func(c *crew.Candidate) bool { return !apart(c) })
	}
	c := &cut{struck: struck, how: begin}
	a := &Attack{Hold: hold, Begin: c.begin, End: c.end}
	for _, c := range struck {
		a.Targets = append(a.Targets, c.Name)
	}
	return a
}

// cut is what is done to the cables of some candidates.
type cut struct {
	struck []*crew.Candidate
	how    func(*network.Network) (undo, error)
	undone []undo // in the order of struck, as far as it has begun
}

func (c *cut) begin() error {
	for _, candidate := range c.struck {
		u, err := c.how(candidate.Line.Network)
		if err != nil {
			_, ending := c.end()
			return errors.Join(err, ending)
		}
		c.undone = append(c.undone, u)
	}
	return nil
}

func (c *cut) end() (string, error) {
	var effects []string
	var errs []error
	for i, undo := range c.undone {
		effect, err := undo()
		effects, errs = append(effects, c.struck[i].Name+": "+effect), append(errs, err)
	}
	return strings.Join(effects, "; "), errors.Join(errs...)
}
