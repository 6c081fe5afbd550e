package guard

import (
	"context"
	"slices"
	"sync"
)

// Round is the requests of one token that are being served.
type Round struct {
	// Token is that of all its requests.
	Token uint64

	ctx    context.Context // ends when a higher token arrives
	cancel context.CancelCauseFunc
	before []*Round      // those that have to be over first
	over   chan struct{} // closed when the round was superseded and its last request has returned

	running int // guarded by Rounds.mu
}

// Rounds are those that have not ended, in the order of their tokens. All but the last are superseded. It is safe for
// concurrent use.
type Rounds struct {
	superseded error

	mu   sync.Mutex
	list []*Round
}

// NewRounds returns none yet. The context of a round ends with the cause superseded when a higher token arrives.
func NewRounds(superseded error) *Rounds { return &Rounds{superseded: superseded} }

// Enter adds a request to the round of its token. It returns nil, and the highest token, if that is a higher one.
func (rs *Rounds) Enter(token uint64) (_ *Round, highest uint64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.list) == 0 || rs.last().Token < token {
		rs.begin(token)
	}
	r := rs.last()
	if r.Token > token {
		return nil, r.Token
	}
	r.running++
	return r, token
}

// Highest returns the highest token that has entered. Call it for a request that has entered itself.
func (rs *Rounds) Highest() uint64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.last().Token
}

func (rs *Rounds) last() *Round { return rs.list[len(rs.list)-1] }

// begin supersedes the newest round by one that waits for all that still run.
func (rs *Rounds) begin(token uint64) {
	if len(rs.list) > 0 {
		last := rs.last()
		last.cancel(rs.superseded)
		rs.end(last)
	}
	r := &Round{Token: token, before: slices.Clone(rs.list), over: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	rs.list = append(rs.list, r)
}

// end drops a superseded round that has no requests left.
func (rs *Rounds) end(r *Round) {
	if r.running == 0 {
		close(r.over)
		rs.list = slices.DeleteFunc(rs.list, func(other *Round) bool { return other == r })
	}
}

// Leave takes a request out of its round.
func (rs *Rounds) Leave(r *Round) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.running--
	if r != rs.last() {
		rs.end(r)
	}
}

// Await waits for the requests of earlier rounds. The error is that of the context, or the cause of the round's end.
func (r *Round) Await(ctx context.Context) error {
	for _, earlier := range r.before {
		select {
		case <-earlier.over:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return context.Cause(r.ctx)
}

// Work returns a context like ctx that also ends when the round does, with the cause. Call end when it is not needed
// any more.
func (r *Round) Work(ctx context.Context) (work context.Context, end func()) {
	work, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	return work, func() {
		stop()
		cancel(nil)
	}
}
