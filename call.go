package tenure

import (
	"context"

	"github.com/tenure-go/tenure/internal/protocol"
)

// call makes one call to the store on a goroutine of its own, and posts the reply. The time that the machine allows is
// never more than what is left of the lease.
func (s *stint) call(e protocol.Effect) {
	ctx, cancel := context.WithTimeout(s.base, e.Timeout)
	s.cancelCall = cancel
	s.c.sending()
	if e.Do == protocol.Load {
		go func() {
			defer cancel()
			snapshot, err := s.c.store.Load(ctx, s.c.election)
			s.c.reply(protocol.Loaded, snapshot, err)
		}()
		return
	}
	old, record := Version(e.Base.Version), s.c.compose(e)
	go func() {
		defer cancel()
		snapshot, err := s.c.store.CompareAndSwap(ctx, s.c.election, old, record)
		s.c.reply(protocol.Wrote, snapshot, err)
	}()
}

func (c *Candidate) sending() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vitals.sent, _ = c.clock.Now()
}

func (c *Candidate) reply(kind protocol.Kind, snapshot Snapshot, err error) {
	in := protocol.Input{Kind: kind}
	in.Outcome, in.RetryAfter = outcome(err)
	if err == nil {
		in.Snapshot = toProtocol(snapshot)
	}
	c.inbox.post(message{in, err})
}
