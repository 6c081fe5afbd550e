package dualleader

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// Redislock is a lock that standing processes try to obtain, and its holder refreshes, every fifth of its TTL. The
// library keeps no deadline, so that its processes lead until a refresh has failed and work has returned.
func Redislock() *Peer {
	return &Peer{
		Name: "redislock", Module: "github.com/bsm/redislock", Lease: 10 * time.Second,
		Asked: "that no `Refresh` has failed; the loop that calls it is ours",
		Can:   ServerClock | ServerWall | Freezes, Holds: true,
		Why: "nothing of it keeps a deadline: work goes on until a refresh fails, and the client library takes four times " +
			"five seconds to find out that nobody answers",
		Serve: func(c *Clock) Server { return &redislockServer{newRedisServer(c)} },
	}
}

type redislockServer struct{ *redisServer }

func (s *redislockServer) Start(n *Node) Process {
	client := redislock.New(redislockClient{redisClient{s.redisServer, n.Link}})
	return again(n, func(ctx context.Context) {
		lock, err := client.Obtain(ctx, n.Election, n.Lease, nil)
		if err != nil {
			pause(ctx, n.Lease/5)
			return
		}
		hold(ctx, n, lock)
	})
}

func hold(ctx context.Context, n *Node, lock *redislock.Lock) {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		n.Work(work)
	}()
	for {
		select {
		case <-finished:
			_ = lock.Release(context.Background())
			return
		case <-time.After(n.Lease / 5):
		}
		if err := lock.Refresh(context.Background(), n.Lease, nil); err != nil {
			cancel()
			<-finished
			return
		}
	}
}

// redislockClient is its interface to a client library.
type redislockClient struct{ client redisClient }

func (c redislockClient) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.reply(ctx, func() (any, bool, error) { return c.client.server.eval(script, keys, args) })
}

func (c redislockClient) EvalSha(ctx context.Context, sum string, keys []string, args ...any) *redis.Cmd {
	return c.reply(ctx, func() (any, bool, error) { return c.client.server.evalSum(sum, keys, args) })
}

func (c redislockClient) EvalRO(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.Eval(ctx, script, keys, args...)
}

func (c redislockClient) EvalShaRO(ctx context.Context, sum string, keys []string, args ...any) *redis.Cmd {
	return c.EvalSha(ctx, sum, keys, args...)
}

func (c redislockClient) ScriptExists(context.Context, ...string) *redis.BoolSliceCmd {
	panic("a lock does not use ScriptExists")
}

func (c redislockClient) ScriptLoad(context.Context, string) *redis.StringCmd {
	panic("a lock does not use ScriptLoad")
}

func (c redislockClient) reply(ctx context.Context, command func() (any, bool, error)) *redis.Cmd {
	value, err := c.client.do(ctx, command)
	switch {
	case errors.Is(err, errNoScript):
		err = redisError(noScript)
	case err == nil && value == nil:
		err = redis.Nil
	}
	return redis.NewCmdResult(value, err)
}

// redisError is an error that the server answered with, as the client library knows it.
type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}
