package tenure

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// startHealth runs the health check, if there is one, on a goroutine of its own.
func (s *stint) startHealth(ctx context.Context) {
	if s.c.config.health == nil {
		return
	}
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		s.checkHealth(ctx)
	}()
}

func (s *stint) checkHealth(ctx context.Context) {
	ticker := time.NewTicker(s.c.config.healthEvery)
	defer ticker.Stop()
	for {
		s.checkOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// checkOnce calls the check. One that hangs has failed as soon as its time is over, not only when it returns.
func (s *stint) checkOnce(ctx context.Context) {
	c := s.c
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

func (c *Candidate) callHealth(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the health check panicked: %v", p)
		}
	}()
	return c.config.health(ctx)
}

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
