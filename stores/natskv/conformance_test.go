package natskv

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	server := testserver.StartNATS(t)
	conform(t, server.Addr, "")
}

func TestConformanceOnThreeServers(t *testing.T) {
	cluster := testserver.StartNATSCluster(t, 3, nil)
	conform(t, cluster[0].Addr, "?replicas=3")
}

// conform runs the kit on a bucket; records are deleted as any client of the key-value store does, in one of two ways.
func conform(t *testing.T, addr, parameters string) {
	t.Helper()
	open := func(t *testing.T) tenure.Store { return openStore(t, addr, "elections"+parameters) }
	bucket := keyValue(t, openStore(t, addr, "elections"+parameters))
	remove := func(t *testing.T, election string) {
		if err := bucket.Delete(t.Context(), key(election)); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

// keyValue is the bucket as other programs see it.
func keyValue(t *testing.T, s *Store) jetstream.KeyValue {
	t.Helper()
	kv, err := s.js.KeyValue(t.Context(), s.bucket)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// openStore opens a store at addr; rest is the bucket and the parameters of its URL.
func openStore(t *testing.T, addr, rest string, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), "nats://"+addr+"/"+rest, options...)
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
