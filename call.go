package tenure

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// call makes one call to the store on a goroutine of its own, and posts the reply. The time that the machine allows is
// never more than what is left of the lease.
func (s *stint) call(e protocol.Effect) {
	if e.Do == protocol.Load {
		s.makeCall(protocol.Loaded, e.Timeout, func(ctx context.Context) (Snapshot, error) {
			return s.c.store.Load(ctx, s.c.election)
		})
		return
	}
	old, record := Version(e.Base.Version), s.c.compose(e)
	s.makeCall(protocol.Wrote, e.Timeout, func(ctx context.Context) (Snapshot, error) {
		return s.c.store.CompareAndSwap(ctx, s.c.election, old, record)
	})
}

// storeCall is one call to the store. It is answered once: by its return, or in its place when it is given up.
type storeCall struct {
	c        *Candidate
	kind     protocol.Kind // of the answer
	answered atomic.Bool
	patience *time.Timer
}

// makeCall gives a store that ignores the end of its context another call's timeout before it gives the call up.
func (s *stint) makeCall(kind protocol.Kind, timeout time.Duration, do func(context.Context) (Snapshot, error)) {
	c := s.c
	c.sending()
	if c.strays.count() >= maxStrays {
		s.cancelCall = func() {}
		c.reply(kind, Snapshot{}, NotApplied(errTooManyStrays, 0))
		return
	}
	ctx, cancel := context.WithTimeout(s.base, timeout)
	s.cancelCall = cancel
	k := &storeCall{c: c, kind: kind}
	k.patience = time.AfterFunc(timeout+c.config.CallTimeout, k.giveUp)
	go k.run(ctx, cancel, do)
}

// maxStrays is how many calls that were given up a candidate leaves behind before it makes no more.
const maxStrays = 3

var (
	errStray         = errors.New("tenure: the store ignores the end of a call's context; the call was given up")
	errTooManyStrays = fmt.Errorf("tenure: no call was made, since %d have not returned: "+
		"the store ignores the end of their contexts", maxStrays)
	errCallGoexit = errors.New("tenure: the store ended the goroutine of a call")
)

// run answers for a call that ends its goroutine, too.
func (k *storeCall) run(ctx context.Context, cancel context.CancelFunc, do func(context.Context) (Snapshot, error)) {
	snapshot, err := Snapshot{}, errCallGoexit
	defer func() {
		cancel()
		k.answer(snapshot, err)
	}()
	snapshot, err = do(ctx)
}

func (k *storeCall) answer(snapshot Snapshot, err error) {
	if k.answered.Swap(true) {
		k.c.strays.back()
		return
	}
	k.patience.Stop()
	k.c.reply(k.kind, snapshot, err)
}

// giveUp counts the call before it answers for it: who hears of the answer has to know that the call still runs.
func (k *storeCall) giveUp() {
	k.c.strays.out()
	if k.answered.Swap(true) {
		k.c.strays.back()
		return
	}
	k.c.reply(k.kind, Snapshot{}, errStray)
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
