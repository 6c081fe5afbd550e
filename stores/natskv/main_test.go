package natskv

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

// soon bounds what ought to happen at once, on a machine that may be busy.
const soon = 30 * time.Second

// fleetBucket is the bucket of candidates that have to find out soon.
const fleetBucket = "elections?heartbeat=200ms"

func vacant(token uint64) tenure.Record { return tenure.Record{Token: token, TTL: 10 * time.Second} }

// connect returns JetStream by a connection of its own.
func connect(t *testing.T, addr string, options ...nats.Option) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect("nats://"+addr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
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

// keyValue is the bucket as other programs see it.
func keyValue(t *testing.T, s *Store) jetstream.KeyValue {
	t.Helper()
	kv, err := s.js.KeyValue(t.Context(), s.bucket)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}
