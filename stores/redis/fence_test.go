package redis

import (
	"context"
	"errors"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestFence(t *testing.T) {
	server := testserver.StartRedis(t)
	client := newClient(t, server.Addr)
	f := NewFence(client, "{orders}:fence")
	must(t, f.Set(t.Context(), 5, "{orders}:1", "five"))
	must(t, f.Set(t.Context(), 5, "{orders}:1", "five again"))
	must(t, f.Raise(t.Context(), 7))
	must(t, isFor(f.Set(t.Context(), 5, "{orders}:1", "late"), ErrFenced))
	must(t, isFor(f.Raise(t.Context(), 6), ErrFenced))
	if got := client.Get(t.Context(), "{orders}:1").Val(); got != "five again" {
		t.Errorf("the value is %q, want the one of before the fence was raised", got)
	}
	must(t, f.Set(t.Context(), tenure.MaxToken, "{orders}:1", "last"))
	must(t, isFor(f.Set(t.Context(), tenure.MaxToken-1, "{orders}:1", "last but one"), ErrFenced))
}

func TestFencedScript(t *testing.T) {
	server := testserver.StartRedis(t)
	f := NewFence(newClient(t, server.Addr), "fence")
	add := NewFencedScript(`
		if #KEYS ~= 1 or #ARGV ~= 2 then return redis.error_reply('WRONG number of arguments') end
		return redis.call('INCRBY', KEYS[1], ARGV[1] + ARGV[2])`)
	for _, want := range []int64{5, 10} {
		if got, err := add.Run(t.Context(), f, 3, []string{"sum"}, 2, 3); got != want || err != nil {
			t.Errorf("the script returns %v, %v, want %d", got, err, want)
		}
		server.MustDo("SCRIPT FLUSH")
	}
	_, err := add.Run(t.Context(), f, 2, []string{"sum"}, 2, 3)
	must(t, isFor(err, ErrFenced))
	if got := server.MustDo("GET sum"); got != "10" {
		t.Errorf("the sum is %s, want 10", got)
	}
	if _, err := NewFencedScript("return redis.call('NOTHING')").Run(t.Context(), f, 3, nil); err == nil || errors.Is(err, ErrFenced) {
		t.Errorf("a script that fails returns %v", err)
	}
	if _, err := NewFencedScript("#!lua flags=\nreturn 1").Run(t.Context(), f, 3, nil); err == nil {
		t.Error("a script with a shebang runs unguarded")
	}
	nothing, err := NewFencedScript("return false").Run(t.Context(), f, 3, nil)
	if nothing != nil || err != nil {
		t.Errorf("a script that returns nothing returns %v, %v", nothing, err)
	}
}

func TestFenceInACluster(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 2)
	f := NewFence(newClusterClient(t, nodes), "{orders}:fence")
	must(t, f.Set(t.Context(), 2, "{orders}:1", "two"))
	must(t, isFor(f.Set(t.Context(), 1, "{orders}:1", "one"), ErrFenced))
	if err := f.Set(t.Context(), 2, "elsewhere", "two"); err == nil {
		t.Error("a key of another slot is guarded")
	}
}

// A leader that does not know that it was deposed, and ignores its context, writes nothing any more once its successor
// has begun.
func TestFenceStopsADeposedLeader(t *testing.T) {
	server := testserver.StartRedis(t)
	proxy := tcpproxy.Start(t, server.Addr)
	client := newClient(t, server.Addr) // the work has its own way to the server
	f := NewFence(client, "fence")
	_, _, late := fleet.Deposed(t, newStore(t, newClient(t, proxy.Addr())), storeAt(t, server), proxy.Hold,
		fleet.Resource{
			Raise: f.Raise,
			Write: func(ctx context.Context, token uint64, text string) error { return f.Set(ctx, token, "value", text) },
			Read:  func() string { return client.Get(t.Context(), "value").Val() },
		})
	must(t, isFor(late, ErrFenced))
}
