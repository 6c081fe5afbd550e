package tenuregrpc

import (
	"context"
	"slices"
	"sync"

	"github.com/tenure-go/tenure/leaderhttp"
)

// round is the calls of one token that are being served.
type round struct {
	token  uint64
	ctx    context.Context // ends when a higher token arrives
	cancel context.CancelCauseFunc
	before []*round      // those that have to be over first
	over   chan struct{} // closed when the round was superseded and its last call has returned

	running int // guarded by rounds.mu
}

// rounds are those that have not ended, in the order of their tokens. All but the last are superseded.
type rounds struct {
	mu   sync.Mutex
	list []*round
}

// enter adds a call to the round of its token. It returns nil, and the newest token, if that is a higher one.
func (rs *rounds) enter(token uint64) (_ *round, newest uint64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.list) == 0 || rs.last().token < token {
		rs.begin(token)
	}
	r := rs.last()
	if r.token > token {
		return nil, r.token
	}
	r.running++
	return r, token
}

func (rs *rounds) last() *round { return rs.list[len(rs.list)-1] }

// begin supersedes the newest round by one that waits for all that still run.
func (rs *rounds) begin(token uint64) {
	if len(rs.list) > 0 {
		superseded := rs.last()
		superseded.cancel(leaderhttp.ErrSuperseded)
		rs.end(superseded)
	}
	r := &round{token: token, before: slices.Clone(rs.list), over: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	rs.list = append(rs.list, r)
}

// end drops a superseded round that has no calls left.
func (rs *rounds) end(r *round) {
	if r.running == 0 {
		close(r.over)
		rs.list = slices.DeleteFunc(rs.list, func(other *round) bool { return other == r })
	}
}

// leave takes a call out of its round.
func (rs *rounds) leave(r *round) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.running--
	if r != rs.last() {
		rs.end(r)
	}
}

// await waits for the calls of earlier rounds. The error is that of the context, or the cause of the round's end.
func (r *round) await(ctx context.Context) error {
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
