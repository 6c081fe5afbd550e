package tenure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// health is the goroutine that calls the health check of a stint.
type health struct {
	quit context.CancelFunc
	done chan struct{}
}

// startHealth runs the health check, if there is one.
func (s *stint) startHealth() {
	if s.c.config.health == nil {
		return
	}
	ctx, quit := context.WithCancel(s.base)
	h := &health{quit: quit, done: make(chan struct{})}
	s.health = h
	go func() {
		defer close(h.done)
		s.c.checkHealth(ctx)
	}()
}

// stop waits for the check that may be under way.
func (h *health) stop() {
	h.quit()
	<-h.done
}

func (c *Candidate) checkHealth(ctx context.Context) {
	ticker := time.NewTicker(c.config.healthEvery)
	defer ticker.Stop()
	for {
		c.checkOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// checkOnce calls the check. One that hangs has failed as soon as its time is over, not only when it returns.
func (c *Candidate) checkOnce(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, c.config.healthEvery)
	defer cancel()
	overdue := context.AfterFunc(bounded, func() {
		if ctx.Err() == nil {
			c.reportHealth(context.DeadlineExceeded)
		}
	})
	err := c.callHealth(bounded)
	if overdue() && ctx.Err() == nil {
		c.reportHealth(err)
	}
}

// callHealth calls the check on a goroutine of its own, which the check may end.
func (c *Candidate) callHealth(ctx context.Context) error {
	result := make(chan error, 1)
	go func() {
		err := errHealthGoexit
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the health check panicked: %v", p)
			}
			result <- err
		}()
		err = c.config.health(ctx)
	}()
	return <-result
}

var errHealthGoexit = errors.New("the health check ended its goroutine")

func (c *Candidate) reportHealth(err error) {
	kind := protocol.Healthy
	if err != nil {
		kind = protocol.Unhealthy
		c.mu.Lock()
		c.vitals.lastError, c.vitals.lastErrorAt = fmt.Errorf("tenure: health check: %w", err), time.Now()
		c.mu.Unlock()
	}
	c.inbox.post(message{input: protocol.Input{Kind: kind}, err: err})
}
