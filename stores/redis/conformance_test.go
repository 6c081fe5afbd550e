package redis

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	server := testserver.StartRedis(t)
	testConformance(t, func(t *testing.T) redis.UniversalClient { return newClient(t, server.Addr) })
}

func TestConformanceOfProtocol2(t *testing.T) {
	server := testserver.StartRedis(t)
	testConformance(t, func(t *testing.T) redis.UniversalClient {
		return newClient(t, server.Addr, func(o *redis.Options) { o.Protocol, o.DB = 2, 3 })
	})
}

func TestConformanceOfCluster(t *testing.T) {
	nodes := testserver.StartRedisCluster(t, 3)
	testConformance(t, func(t *testing.T) redis.UniversalClient { return newClusterClient(t, nodes) })
}

func testConformance(t *testing.T, connect func(t *testing.T) redis.UniversalClient) {
	open := func(t *testing.T) tenure.Store { return newStore(t, connect(t)) }
	client := connect(t)
	remove := func(t *testing.T, election string) {
		must(t, client.Del(context.Background(), layout{prefix: defaultPrefix}.record(election)).Err())
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}
