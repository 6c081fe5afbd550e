package redis_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/redis"
)

func ExampleOpen() {
	ctx := context.Background()
	store, err := redis.Open(ctx, "redis://localhost:6379/0?password_file=/run/secrets/redis")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer store.Close()
	candidate, err := tenure.New(store, "billing")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	err = candidate.Run(ctx, func(ctx context.Context, term tenure.Term) error {
		fmt.Println("leading with token", term.Token)
		<-ctx.Done()
		return nil
	})
	fmt.Fprintln(os.Stderr, err)
}

// A store over a client that the program has anyway.
func ExampleNew() {
	client := goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName: "mine", SentinelAddrs: []string{"sentinel-1:26379", "sentinel-2:26379", "sentinel-3:26379"},
		ContextTimeoutEnabled: true,
	})
	defer client.Close()
	store, err := redis.New(client, redis.WithPrefix("billing"), redis.WithReplicas(1, 200*time.Millisecond))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer store.Close()
	guarantee, err := store.Guarantee(context.Background())
	fmt.Fprintln(os.Stderr, guarantee.Grade, guarantee.Reasons, err)
}

// Leader work that writes into Redis, where a leader that was deposed can do no harm.
func ExampleFence() {
	client := goredis.NewClient(&goredis.Options{Addr: "localhost:6379"})
	defer client.Close()
	fence := redis.NewFence(client, "{orders}:fence")
	work := func(ctx context.Context, term tenure.Term) error {
		if err := fence.Raise(ctx, term.Token); err != nil {
			return err
		}
		err := fence.Set(ctx, term.Token, "{orders}:42", "shipped")
		if errors.Is(err, redis.ErrFenced) {
			return nil // somebody else leads by now
		}
		return err
	}
	_ = work // for the candidate's Run
}

// Any script can be guarded.
func ExampleNewFencedScript() {
	client := goredis.NewClient(&goredis.Options{Addr: "localhost:6379"})
	defer client.Close()
	fence := redis.NewFence(client, "{orders}:fence")
	ship := redis.NewFencedScript(`return redis.call('HINCRBY', KEYS[1], 'shipped', ARGV[1])`)
	ctx, token := context.Background(), uint64(7)
	shipped, err := ship.Run(ctx, fence, token, []string{"{orders}:42"}, 1)
	fmt.Fprintln(os.Stderr, shipped, err)
}
