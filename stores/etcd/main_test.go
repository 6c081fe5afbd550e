package etcd

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure"
)

// soon bounds what ought to happen at once, on a machine that may be busy.
const soon = 30 * time.Second

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

// delivery is one call of a deliver function.
type delivery struct {
	snapshot tenure.Snapshot
	err      error
}

// mustWatch returns what a watch delivers.
func mustWatch(t *testing.T, s *Store, election string) <-chan delivery {
	t.Helper()
	deliveries := make(chan delivery, 1000)
	stop, err := s.Watch(t.Context(), election, func(snapshot tenure.Snapshot, err error) {
		deliveries <- delivery{snapshot, err}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return deliveries
}

// await returns the first delivery that is wanted.
func await(t *testing.T, deliveries <-chan delivery, what string, wanted func(delivery) bool) delivery {
	t.Helper()
	timeout := time.After(soon)
	for {
		select {
		case d := <-deliveries:
			if wanted(d) {
				return d
			}
		case <-timeout:
			t.Fatalf("%s was not delivered within %v", what, soon)
		}
	}
}

func failure(d delivery) bool { return d.err != nil }

func at(v tenure.Version) func(delivery) bool {
	return func(d delivery) bool { return d.err == nil && d.snapshot.Version == v }
}
