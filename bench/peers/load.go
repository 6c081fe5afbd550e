package peers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/bench"
)

// Load is what candidates at rest ask of their server, each with connections of its own.
type Load struct {
	Followers int
	For       time.Duration
	// Leader is of a leader alone, Follower of one follower, both a minute.
	Leader, Follower bench.Counts
}

func (r *rig) measureLoad(ctx context.Context, followers int, window time.Duration) (_ Load, err error) {
	load := Load{Followers: followers, For: window}
	c, err := r.gather(ctx, "load", followers+1, followers+1)
	if err != nil {
		return load, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	c.stand(0)
	if _, err := c.next(r.lease); err != nil {
		return load, err
	}
	alone, err := r.atRest(ctx, c, window)
	if err != nil {
		return load, err
	}
	for i := range followers {
		c.stand(i + 1)
	}
	together, err := r.atRest(ctx, c, window)
	if err != nil {
		return load, err
	}
	load.Leader = alone.Per(window.Minutes())
	load.Follower = bench.Counts{}
	for name, value := range together {
		load.Follower[name] = max(0, value-alone[name]) / window.Minutes() / float64(followers)
	}
	return load, nil
}

// atRest counts for a while after the candidates have come to rest.
func (r *rig) atRest(ctx context.Context, c *crowd, window time.Duration) (bench.Counts, error) {
	if err := wait(ctx, min(r.lease/2, window)); err != nil {
		return nil, err
	}
	counts, err := r.counted(ctx, func() error { return wait(ctx, window) })
	if err != nil {
		return nil, err
	}
	select {
	case l := <-c.led:
		return nil, fmt.Errorf("node-%d came to lead beside the leader or in its place (%w)", l.who, errors.Join(l.err))
	default:
		return counts, nil
	}
}
