package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// writeAndWait writes and waits for replicas in one round trip. WAIT speaks of what its own connection has written, so
// that both go to one server by one pipeline.
func (s *Store) writeAndWait(ctx context.Context, keys []string, args []any) (any, error) {
	master, err := s.master(ctx, keys[0])
	if err != nil {
		return nil, tenure.NotApplied(err, 0)
	}
	var acknowledged int64
	reply, err := swapScript.attempt(func(bySource bool) (any, error) {
		swap := swapScript.command(ctx, bySource, keys, args)
		wait := redis.NewCmd(ctx, "wait", s.config.replicas, s.patience(ctx).Milliseconds())
		pipe := master.Pipeline()
		_ = pipe.Process(ctx, once{swap})
		_ = pipe.Process(ctx, once{wait})
		_, _ = pipe.Exec(ctx) // each command has its own error
		reply, err := swap.Result()
		if err != nil {
			return nil, err
		}
		acknowledged, err = wait.Int64()
		return reply, unsettled(err)
	})
	if _, moved := redis.IsMovedError(err); moved {
		s.reroute(ctx) // the next attempt finds the new master
	}
	if err == nil && reply != nil && acknowledged < int64(s.config.replicas) {
		return nil, fmt.Errorf("written, but acknowledged by %d replicas of %d within %v",
			acknowledged, s.config.replicas, s.config.within)
	}
	return reply, err
}

// unsettled hides what kind of error WAIT has returned: whatever it says, the write before it was carried out.
func unsettled(err error) error {
	if err == nil {
		return nil
	}
	return errors.New("written, but not known to be on replicas: " + err.Error())
}

// patience is how long replicas have, such that the answer comes before the context ends.
func (s *Store) patience(ctx context.Context) time.Duration {
	patience := s.config.within
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)*3/4)
	}
	return max(patience, time.Millisecond) // WAIT takes 0 for ever
}
