package bench

import (
	"context"
	"time"

	"github.com/tenure-go/tenure"
)

// HandOver is the time from the end of one leader's work to the start of the next one's, candidates standing at
// default settings, and what the server takes for bare operations in between.
type HandOver struct {
	Candidates int
	Gap        Series
	Ping       Series
	Write      Series
	// Parts of the gap: the store's release, from the release's start to the sight of it by the next leader, and that
	// leader's bid. What remains is spent in the candidates.
	Push Series
	Bid  Series
	// Own is what remains.
	Own Series
	// Poll is the interval of candidates that poll, zero if the store pushes.
	Poll time.Duration
}

// handOver measures one hand-over at a time.
type handOver struct {
	rig     *rig
	contest *contest
	leader  int
	result  HandOver
}

func (r *rig) beginHandOver(ctx context.Context, candidates, processes int) (*handOver, error) {
	contest, err := r.standing(ctx, r.election("hand-over"), candidates, processes)
	if err != nil {
		return nil, err
	}
	h := &handOver{rig: r, contest: contest, result: HandOver{Candidates: candidates}}
	if !r.pushes {
		h.result.Poll = tenure.DefaultTTL / 5
	}
	first, err := contest.next(ctx, tenure.DefaultTTL)
	if err != nil {
		_ = contest.close()
		return nil, err
	}
	h.leader = first.candidate
	return h, nil
}

// sample measures one hand-over, between bare operations.
func (h *handOver) sample(ctx context.Context) error {
	if err := h.contest.settle(ctx); err != nil {
		return err
	}
	if err := h.result.Ping.timed(func() error { return h.rig.server.Ping(ctx) }); err != nil {
		return err
	}
	if err := h.result.Write.timed(func() error { return h.rig.write(ctx) }); err != nil {
		return err
	}
	next, gap, err := h.contest.handOver(ctx, h.leader)
	if err != nil {
		return err
	}
	h.leader = next.candidate
	h.result.Gap = append(h.result.Gap, gap)
	h.divide(gap, next.candidate)
	return nil
}

// divide tells what the gap consisted of.
func (h *handOver) divide(gap time.Duration, winner int) {
	t := h.contest.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	seen, ok := t.vacant[winner]
	if !ok || len(t.swaps) < 2 {
		return
	}
	release, bid := t.swaps[0], t.swaps[1]
	if !release.vacates || bid.candidate != winner { // a renewal came between
		return
	}
	push, won := seen.Sub(release.sent), bid.done.Sub(bid.sent)
	h.result.Push = append(h.result.Push, push)
	h.result.Bid = append(h.result.Bid, won)
	h.result.Own = append(h.result.Own, gap-push-won)
}
