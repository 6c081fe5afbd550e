package natskv

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/tcpproxy"
)

// soon bounds what ought to happen at once, on a machine that may be busy.
const soon = 30 * time.Second

// held is a record with a leader.
func held(token uint64, leader string) tenure.Record {
	return tenure.Record{Token: token, Leader: leader, Session: "session-of-" + leader, TTL: 10 * time.Second}
}

func vacant(token uint64) tenure.Record { return tenure.Record{Token: token, TTL: 10 * time.Second} }

func mustSwap(t *testing.T, s *Store, election string, old tenure.Version, record tenure.Record) tenure.Snapshot {
	t.Helper()
	snapshot, err := s.CompareAndSwap(t.Context(), election, old, record)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func mustLoad(t *testing.T, s *Store, election string) tenure.Snapshot {
	t.Helper()
	snapshot, err := s.Load(t.Context(), election)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

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

func proxyTo(t *testing.T, addr string) *tcpproxy.Proxy {
	t.Helper()
	p, err := tcpproxy.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// eventually waits until something holds that nothing tells of.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(soon); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v it was not so that %s", soon, what)
		}
	}
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

// mustBeUnknown fails the test if the error is one of those that say that nothing was written.
func mustBeUnknown(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, known := range []error{tenure.ErrConflict, tenure.ErrNotApplied, tenure.ErrPermanent} {
		if errors.Is(err, known) {
			t.Fatalf("the outcome is unknown, but the error is %v", err)
		}
	}
}
