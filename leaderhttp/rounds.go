package leaderhttp

import (
	"context"
	"sync"
)

// round is the requests of one token that are being served.
type round struct {
	token  uint64
	ctx    context.Context // ends when a higher token arrives
	cancel context.CancelCauseFunc
	before []<-chan struct{} // what of earlier rounds has to be over first
	done   chan struct{}     // closed when the round was superseded and its last request has returned

	running int // guarded by rounds.mu
}

// rounds are those that have not ended, at most one of which is not superseded.
type rounds struct {
	mu     sync.Mutex
	newest *round
	older  []*round
}

// enter adds a request to the round of its token. It returns nil, and the newest token, if that is a higher one.
func (rs *rounds) enter(token uint64) (_ *round, highest uint64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.newest == nil || token > rs.newest.token {
		rs.begin(token)
	}
	if token < rs.newest.token {
		return nil, rs.newest.token
	}
	rs.newest.running++
	return rs.newest, token
}

// begin supersedes the newest round by one that waits for all that still run.
func (rs *rounds) begin(token uint64) {
	next := &round{token: token, done: make(chan struct{})}
	next.ctx, next.cancel = context.WithCancelCause(context.Background())
	if last := rs.newest; last != nil {
		last.cancel(ErrSuperseded)
		if last.running > 0 {
			rs.older = append(rs.older, last)
		}
	}
	for _, old := range rs.older {
		next.before = append(next.before, old.done)
	}
	rs.newest = next
}

// leave takes a request out of its round.
func (rs *rounds) leave(r *round) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.running--
	if r.running > 0 || r == rs.newest {
		return
	}
	close(r.done)
	kept := rs.older[:0]
	for _, old := range rs.older {
		if old != r {
			kept = append(kept, old)
		}
	}
	clear(rs.older[len(kept):])
	rs.older = kept
}

func (rs *rounds) highest() uint64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.newest.token
}
