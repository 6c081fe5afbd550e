//go:build linux

package nemesis

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/worker"
	"github.com/tenure-go/tenure/internal/httpproxy"
)

// revoke takes the candidates' right to use the store away: of all where the server does it, of one where a proxy
// stands for the server.
type revoke struct{}

func (revoke) Name() string { return "revoke" }

func (revoke) Unfit(s *Scene) string {
	if s.Server.Revoke == nil && !s.Server.HTTP {
		return "this store knows no rights here"
	}
	return ""
}

func (revoke) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	hold := shortOrLong(r, s.TTL)
	if s.Server.HTTP {
		return denied(s, r, taken, hold)
	}
	if slices.Contains(taken, serverTarget) {
		return nil
	}
	var restore func() error
	var refusal error
	return &Attack{
		Fault: history.Fault{Targets: []string{serverTarget}}, Hold: hold,
		Begin: func() (err error) {
			if restore, err = s.Server.Revoke(); err != nil {
				return err
			}
			if refusal = s.Answers(refusedWithin); refusal == nil {
				return errors.Join(errors.New("the store goes on answering the candidates' user"), restore())
			}
			return nil
		},
		End: func() (string, error) { return fmt.Sprintf("the candidates' user was refused: %v", refusal), restore() },
	}
}

// refusedWithin is how long is waited to see what a user without rights is told. NATS says nothing.
const refusedWithin = 300 * time.Millisecond

func denied(s *Scene, r *rand.Rand, taken []string, hold time.Duration) *Attack {
	c := s.draw(r, taken, nil)
	if c == nil {
		return nil
	}
	var injected []*httpproxy.Injection
	return &Attack{
		Fault: history.Fault{Targets: []string{c.Name}}, Hold: hold,
		Begin: func() error {
			for _, p := range c.Line.HTTP {
				injected = append(injected, p.Inject(s.Server.Denied))
			}
			return nil
		},
		End: func() (string, error) {
			for _, in := range injected {
				in.Heal()
			}
			return "what it asked was answered with 403", nil
		},
	}
}

// exhaustPool takes all connections of a candidate's pool.
type exhaustPool struct{}

func (exhaustPool) Name() string { return "pool" }

func (exhaustPool) Unfit(s *Scene) string {
	if !s.Server.Pool || !s.has(library) {
		return "no candidate shares a pool of connections to this store"
	}
	return ""
}

func (exhaustPool) Plan(s *Scene, r *rand.Rand, taken []string) *Attack {
	hold := shortOrLong(r, s.TTL)
	c := s.draw(r, taken, library)
	if c == nil {
		return nil
	}
	var answer string
	return &Attack{
		Fault: history.Fault{Targets: []string{c.Name}}, Hold: hold,
		Begin: func() (err error) {
			if answer, err = c.Order(worker.OrderExhaust); err == nil && !strings.HasPrefix(answer, worker.Holds) {
				err = fmt.Errorf("%s: %s", c.Name, answer)
			}
			return err
		},
		End: func() (string, error) { return "it " + answer, ordered(c, worker.OrderRelease, "", "released") },
	}
}
