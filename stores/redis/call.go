package redis

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// call runs work such that it ends with its context. Work that ends by the deadline itself is simply done: a goroutine,
// with a stack that has to grow anew every time, takes as long as half a round trip. Other work has one, and when it is
// given up it goes on until the client's read timeout.
func call[T any](ctx context.Context, prompt bool, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	if err := ctx.Err(); err != nil {
		var none T
		return none, err
	}
	if _, bounded := ctx.Deadline(); bounded && prompt {
		return work()
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// once is a command that the client must not repeat by itself: after a repetition an error would not tell any more
// whether the first attempt was carried out. The candidate repeats, and knows what it does.
type once struct{ *redis.Cmd }

// NoRetry is asked by the client.
func (once) NoRetry() bool { return true }

// firstKey is where the keys of EVAL and EVALSHA begin.
const firstKey = 3

// command returns the call of a script, by its digest or with its source.
func (s *script) command(ctx context.Context, bySource bool, keys []string, args []any) *redis.Cmd {
	words := make([]any, 0, firstKey+len(keys)+len(args))
	if bySource {
		words = append(words, "eval", s.source)
	} else {
		words = append(words, "evalsha", s.digest)
	}
	words = append(words, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	cmd := redis.NewCmd(ctx, append(words, args...)...)
	cmd.SetFirstKeyPos(firstKey)
	return cmd
}

// eval runs a script, in one round trip if the server knows it. The reply is nil where the script returns nil.
func (s *script) eval(ctx context.Context, client processor, keys []string, args ...any) (any, error) {
	return s.attempt(func(bySource bool) (any, error) {
		cmd := s.command(ctx, bySource, keys, args)
		_ = client.Process(ctx, once{cmd}) // its error is the command's
		return cmd.Result()
	})
}

// attempt calls by digest, and by source if the server does not know the script, which it does afterwards.
func (*script) attempt(run func(bySource bool) (any, error)) (any, error) {
	reply, err := run(false)
	if unknownScript(err) {
		reply, err = run(true)
	}
	if errors.Is(err, redis.Nil) { // the client's word for a reply of nil
		return nil, nil
	}
	return reply, err
}

func unknownScript(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT ")
}

// processor is what carries out a command: the client of a server or a Cluster.
type processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}
