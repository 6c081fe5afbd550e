package etcd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

func value(t *testing.T, kv clientv3.KV, key string) string {
	t.Helper()
	reply, err := kv.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Kvs) == 0 {
		return ""
	}
	return string(reply.Kvs[0].Value)
}

func isStale(t *testing.T, err error, token, mark uint64) {
	t.Helper()
	var stale *fence.StaleError
	if !errors.As(err, &stale) || stale.Token != token || stale.Mark != mark {
		t.Errorf("token %d returned %v, want that it is refused for %d", token, err, mark)
	}
}

func TestFence(t *testing.T) {
	client := connect(t, testserver.StartEtcd(t).Addr)
	for name, kv := range map[string]clientv3.KV{"client": client, "namespace": namespace.NewKV(client, "apart/")} {
		t.Run(name, func(t *testing.T) {
			f := NewFence(kv, "orders/fence")
			// Read as text, 10 is less than 9.
			for _, token := range []uint64{8, 9, 9, 10, 1 << 40} {
				reply, err := f.Do(t.Context(), token, clientv3.OpGet("orders/1"), clientv3.OpPut("orders/1", markOf(token)))
				if err != nil {
					t.Fatal(err)
				}
				if len(reply.Responses) != 2 || reply.Responses[0].GetResponseRange() == nil ||
					reply.Responses[1].GetResponsePut() == nil {
					t.Errorf("the responses are %v, want those to the read and to the write", reply.Responses)
				}
			}
			_, err := f.Do(t.Context(), 1<<40-1, clientv3.OpPut("orders/1", "late"))
			isStale(t, err, 1<<40-1, 1<<40)
			if err := f.Raise(t.Context(), tenure.MaxToken); err != nil {
				t.Fatal(err)
			}
			isStale(t, f.Raise(t.Context(), 9), 9, tenure.MaxToken)
			if got := value(t, kv, "orders/1"); got != markOf(1<<40) {
				t.Errorf("the guarded key holds %q, want what the highest token wrote", got)
			}
		})
	}
}

func TestFenceRefusesWhatItCannotGuard(t *testing.T) {
	client := connect(t, testserver.StartEtcd(t).Addr)
	f := NewFence(client, "fence")
	for _, token := range []uint64{0, tenure.MaxToken + 1} {
		if err := f.Raise(t.Context(), token); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("token %d returned %v, want ErrConfig", token, err)
		}
	}
	if err := NewFence(client, "").Raise(t.Context(), 1); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("a fence without a key returned %v, want ErrConfig", err)
	}
	for _, own := range []clientv3.Op{clientv3.OpPut("fence", "x"), clientv3.OpDelete("fen", clientv3.WithPrefix())} {
		if _, err := f.Do(t.Context(), 1, own); err == nil {
			t.Error("an operation on the fence's own key was carried out")
		}
	}
	if _, err := client.Put(t.Context(), "fence", "something else"); err != nil {
		t.Fatal(err)
	}
	if err := f.Raise(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Errorf("a key that holds something else returned %v", err)
	}
}

// The terms of a contest write at once and for the first time. Whatever the order, the highest token is the last one.
func TestFenceInARace(t *testing.T) {
	client := connect(t, testserver.StartEtcd(t).Addr)
	f := NewFence(client, "fence")
	const terms = 8
	errs := make([]error, terms+1)
	var all sync.WaitGroup
	for token := range uint64(terms + 1) {
		all.Go(func() {
			if token > 0 {
				_, errs[token] = f.Do(t.Context(), token, clientv3.OpPut("key", markOf(token)))
			}
		})
	}
	all.Wait()
	for token, err := range errs {
		if err != nil && (!errors.Is(err, fence.ErrStale) || token == terms) {
			t.Errorf("term %d: %v", token, err)
		}
	}
	if got := []string{value(t, client, "key"), value(t, client, "fence")}; !slices.Equal(got, []string{markOf(terms), markOf(terms)}) {
		t.Errorf("the key and the mark are %q, want those of term %d", got, terms)
	}
}

// A leader that does not know that it was deposed, and ignores its context, writes nothing any more once its successor
// has begun.
func TestFenceStopsADeposedLeader(t *testing.T) {
	server := testserver.StartEtcd(t)
	proxy := tcpproxy.Start(t, server.Addr)
	client := connect(t, server.Addr) // the work has its own way to the server
	f := NewFence(client, "fence")
	first, second, late := fleet.Deposed(t, openStore(t, proxy.Addr(), ""), openStore(t, server.Addr, ""), proxy.Hold,
		fleet.Resource{
			Raise: f.Raise,
			Write: func(ctx context.Context, token uint64, text string) error {
				_, err := f.Do(ctx, token, clientv3.OpPut("key", text))
				return err
			},
			Read: func() string { return value(t, client, "key") },
		})
	isStale(t, late, first, second)
}
