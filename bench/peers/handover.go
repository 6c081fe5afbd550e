package peers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/bench"
)

// HandOver is the time from the moment at which a leader is told to step down to the start of the next one's lead, with
// bare operations of the same server in between.
type HandOver struct {
	Candidates       int
	Gap, Ping, Write bench.Series
	// Vacant is how often nobody came to lead; that is not among the hand-overs.
	Vacant int
}

// handOver measures one hand-over at a time.
type handOver struct {
	rig    *rig
	crowd  *crowd
	leader int
	result HandOver
}

func (r *rig) beginHandOver(ctx context.Context, candidates, processes int) (*handOver, error) {
	c, err := r.gather(ctx, "hand-over", candidates, processes)
	if err != nil {
		return nil, err
	}
	for i := range candidates {
		c.stand(i)
	}
	first, err := c.next(r.lease)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("a first leader: %w", err), c.close())
	}
	h := &handOver{rig: r, crowd: c, leader: first.who, result: HandOver{Candidates: candidates}}
	if err := wait(ctx, time.Duration(candidates)*5*time.Millisecond); err != nil { // until the last one stands
		return nil, errors.Join(err, c.close())
	}
	return h, nil
}

// sample measures one hand-over, after a bare round trip and a bare write.
func (h *handOver) sample(ctx context.Context) error {
	if err := wait(ctx, h.pause()); err != nil {
		return err
	}
	ping, err := timed(func() error { return h.rig.server.Ping(ctx) })
	if err != nil {
		return err
	}
	write, err := timed(func() error { return h.rig.server.Write(ctx, 1) })
	if err != nil {
		return err
	}
	next, gap, err := h.crowd.handOver(h.leader, 2*h.rig.lease)
	if err != nil {
		return err
	}
	h.leader = next.who
	h.result.Gap = append(h.result.Gap, gap)
	h.result.Ping, h.result.Write = append(h.result.Ping, ping), append(h.result.Write, write)
	return nil
}

// pause is long enough for the candidates to come to rest. Where they poll, its end is at any moment between two polls.
func (h *handOver) pause() time.Duration {
	calm := 20*time.Millisecond + time.Duration(h.result.Candidates)*500*time.Microsecond
	poll := time.Duration(h.rig.peer.Poll * float64(h.rig.lease))
	return calm + rand.N(poll+1)
}

func timed(do func() error) (time.Duration, error) {
	start := time.Now()
	err := do()
	return time.Since(start), err
}
