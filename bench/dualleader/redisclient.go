package dualleader

import (
	"context"
	"errors"
	"time"
)

// redisClient is a client of one process: each command waits for its reply for as long as the client library does by
// default, whatever its context says, and is tried again after a timeout unless the context has ended.
type redisClient struct {
	server *redisServer
	link   *Link
}

type redisReply struct {
	value any
	err   error
}

func (c redisClient) do(ctx context.Context, command func() (any, bool, error)) (any, error) {
	var err error
	for attempt := range redisRetries + 1 {
		if attempt > 0 && !pause(ctx, redisBackoff<<attempt) {
			return nil, err
		}
		var value any
		if value, err = c.once(command); err == nil {
			return value, nil
		}
		if refused := (serverError{}); errors.As(err, &refused) {
			return nil, refused.error
		}
	}
	return nil, err
}

// serverError is an answer of the server, in contrast to none.
type serverError struct{ error }

func (c redisClient) once(command func() (any, bool, error)) (any, error) {
	var reply redisReply
	err := c.link.Call(context.Background(), redisTimeout, func() (wrote bool) {
		reply.value, wrote, reply.err = command()
		return wrote
	})
	switch {
	case err != nil:
		return nil, err
	case reply.err != nil:
		return nil, serverError{reply.err}
	}
	return reply.value, nil
}

// pause returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
