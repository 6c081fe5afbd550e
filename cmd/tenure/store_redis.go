package main

import (
	"context"

	client "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/redis"
)

// redisScheme is a Redis or Valkey server, several with Sentinels, or a Cluster.
var redisScheme = scheme{
	names: []string{
		"redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster",
	},
	form: "redis://host", open: openRedis,
}

func openRedis(ctx context.Context, address string, _ opening) (tenure.Store, func() error, error) {
	client.SetLogger(contextSilence{}) // what it would print comes back as errors, too
	return opened(redis.Open(ctx, address))
}
