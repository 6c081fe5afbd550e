package bench

import (
	"context"
	"errors"
	"time"

	"github.com/tenure-go/tenure"
)

// Load is what candidates at rest ask of the store, at default settings, each with connections of its own.
type Load struct {
	Followers int
	For       time.Duration
	// Leader and Follower are the calls of the candidates to their stores, those of all followers together.
	Leader, Follower Calls
	// Counts are the server's, nil if it does not count.
	Counts Counts
}

func (r *rig) measureLoad(ctx context.Context, followers int, window time.Duration) (_ Load, err error) {
	load := Load{Followers: followers, For: window}
	contest, err := r.standing(ctx, r.election("load"), followers+1, followers+1)
	if err != nil {
		return load, err
	}
	defer func() { err = errors.Join(err, contest.close()) }()
	leader, err := contest.next(ctx, tenure.DefaultTTL)
	if err != nil {
		return load, err
	}
	if err := errors.Join(contest.gather(ctx), wait(ctx, defaultPoll)); err != nil { // what belongs to the start is over
		return load, err
	}
	load.Counts, err = r.counted(ctx, func() error {
		contest.trace.reset()
		return wait(ctx, window)
	})
	load.Leader = contest.trace.of(leader.candidate)
	all := contest.trace.all()
	load.Follower = Calls{
		Loads: all.Loads - load.Leader.Loads, Accepted: all.Accepted - load.Leader.Accepted,
		Rejected: all.Rejected - load.Leader.Rejected, Failed: all.Failed - load.Leader.Failed,
	}
	return load, err
}

// Minutes is for how many candidate-minutes n candidates were watched.
func (l Load) Minutes(n int) float64 { return float64(n) * l.For.Minutes() }

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
