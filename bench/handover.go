package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure"
)

// HandOver is the time from the end of one leader's work to the start of the next one's, candidates standing at
// default settings, and what bare operations and a renewal take in between.
type HandOver struct {
	Candidates           int
	Gap                  Series
	Ping, Write, Renewal Series
	// Parts of the gap: the store's release, from the release's start to the sight of it by the next leader, and that
	// leader's bid. What remains is spent in the candidates.
	Push Series
	Bid  Series
	// Own is what remains.
	Own Series
	// Lost are the ends of terms that ended by themselves, and are not among the hand-overs.
	Lost []error
	// Poll is the interval of candidates that poll, zero if the store pushes.
	Poll time.Duration
}

// handOver measures one hand-over at a time.
type handOver struct {
	rig     *rig
	contest *contest
	renewal *renewing
	leader  int
	result  HandOver
}

func (r *rig) beginHandOver(ctx context.Context, candidates, processes int) (*handOver, error) {
	renewal, err := r.beginRenewal(ctx)
	if err != nil {
		return nil, err
	}
	h := &handOver{rig: r, renewal: renewal, result: HandOver{Candidates: candidates}}
	if !r.pushes {
		h.result.Poll = defaultPoll
	}
	h.contest, err = r.standing(ctx, r.election("hand-over"), candidates, processes)
	if err != nil {
		return nil, errors.Join(err, renewal.store.Close())
	}
	first, err := h.contest.next(ctx, tenure.DefaultTTL)
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	h.leader = first.candidate
	return h, nil
}

func (h *handOver) close() error { return errors.Join(h.contest.close(), h.renewal.store.Close()) }

// sample measures one hand-over, after a bare round trip, a bare write and a renewal.
func (h *handOver) sample(ctx context.Context) error {
	if err := wait(ctx, rand.N(h.result.Poll+1)); err != nil { // at any moment between two polls
		return err
	}
	if err := h.contest.settle(ctx); err != nil {
		return err
	}
	if err := h.bare(ctx); err != nil {
		return err
	}
	next, gap, err := h.contest.handOver(ctx, h.leader)
	h.leader = next.candidate
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		h.result.Lost = append(h.result.Lost, lost)
		return nil
	}
	if err != nil {
		return err
	}
	h.result.Gap = append(h.result.Gap, gap)
	if err := h.contest.settle(ctx); err != nil { // the reply to the bid may come after the watch has told of it
		return err
	}
	h.divide(gap, next)
	return nil
}

func (h *handOver) bare(ctx context.Context) error {
	if err := h.rig.wake(ctx); err != nil {
		return err
	}
	if err := h.result.Ping.timed(func() error { return h.rig.server.Ping(ctx) }); err != nil {
		return err
	}
	if err := h.result.Write.timed(func() error { return h.rig.write(ctx) }); err != nil {
		return err
	}
	return h.result.Renewal.timed(func() error { return h.renewal.renew(ctx) })
}

// divide tells what the gap consisted of.
func (h *handOver) divide(gap time.Duration, next begun) {
	t := h.contest.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	seen, ok := t.vacant[next.candidate]
	if !ok || len(t.swaps) < 2 {
		return
	}
	release, bid := t.swaps[0], t.swaps[1]
	if !release.vacates || bid.candidate != next.candidate { // a renewal came between
		return
	}
	if bid.done.After(next.at) { // the watch told of the bid before its reply came
		bid.done = next.at
	}
	push, won := seen.Sub(release.sent), bid.done.Sub(bid.sent)
	h.result.Push = append(h.result.Push, push)
	h.result.Bid = append(h.result.Bid, won)
	h.result.Own = append(h.result.Own, gap-push-won)
}
