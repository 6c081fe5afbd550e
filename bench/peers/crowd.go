package peers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// crowd are the candidates of an election.
type crowd struct {
	contenders []Contender
	nodes      []Node
	led        chan led
	ctx        context.Context
	cancel     context.CancelFunc
	standing   sync.WaitGroup
}

// led says that a candidate leads, or why it never will.
type led struct {
	who int
	at  time.Time
	err error
}

// patience is how long anything may take beyond what leases and polls allow.
const patience = 15 * time.Second

// errVacant says that candidates stood, and nobody led.
var errVacant = errors.New("nobody led")

// gather opens candidates in the place of so many processes at most. None stands yet.
func (r *rig) gather(ctx context.Context, trial string, candidates, processes int) (*crowd, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &crowd{led: make(chan led, 2*candidates), ctx: ctx, cancel: cancel}
	election := r.election(trial)
	for i := range candidates {
		if i < processes {
			node, err := r.peer.Open(ctx, r.server.Address())
			if err != nil {
				return nil, errors.Join(fmt.Errorf("connecting: %w", err), c.close())
			}
			c.nodes = append(c.nodes, node)
		}
		contender, err := c.nodes[i%len(c.nodes)].Contend(election, fmt.Sprint("node-", i), r.lease)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.contenders = append(c.contenders, contender)
	}
	return c, nil
}

// stand has one candidate stand.
func (c *crowd) stand(who int) {
	c.standing.Go(func() {
		err := c.contenders[who].Lead(c.ctx)
		c.led <- led{who, time.Now(), err}
	})
}

// next waits for the next leader.
func (c *crowd) next(within time.Duration) (led, error) {
	select {
	case l := <-c.led:
		return l, l.err
	case <-c.ctx.Done():
		return led{}, c.ctx.Err()
	case <-time.After(within + patience):
		return led{}, fmt.Errorf("%w for %v", errVacant, within+patience)
	}
}

// handOver has the leader step down, and returns its successor and how long there was none. The leader stands again
// once it has one.
func (c *crowd) handOver(leader int, within time.Duration) (led, time.Duration, error) {
	released := make(chan error, 1)
	start := time.Now()
	go func() { released <- c.contenders[leader].Release(c.ctx) }()
	next, err := c.next(within)
	if err != nil {
		return next, 0, err
	}
	if err := <-released; err != nil {
		return next, 0, fmt.Errorf("releasing: %w", err)
	}
	c.stand(leader)
	return next, next.at.Sub(start), nil
}

// close ends the candidates, all at once, and then their nodes.
func (c *crowd) close() error {
	c.cancel()
	c.standing.Wait()
	errs := make([]error, len(c.contenders)+len(c.nodes))
	var closing sync.WaitGroup
	for i, contender := range c.contenders {
		closing.Go(func() { errs[i] = contender.Close() })
	}
	closing.Wait()
	for i, node := range c.nodes {
		errs[len(c.contenders)+i] = node.Close()
	}
	return errors.Join(errs...)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
