package etcd

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure"
)

func vacant(token uint64) tenure.Record { return tenure.Record{Token: token, TTL: 10 * time.Second} }

// connect returns a client as other programs have one.
func connect(t *testing.T, addrs ...string) *clientv3.Client {
	t.Helper()
	var endpoints []string
	for _, addr := range addrs {
		endpoints = append(endpoints, "http://"+addr)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// openStore opens a store at addr; rest is the path and the parameters of its URL.
func openStore(t *testing.T, addr, rest string, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), "etcd://"+addr+rest, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
