package natskv

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// often is a heartbeat for tests that wait for silence to be noticed.
const often = "&heartbeat=100ms"

// consumers returns the names of all consumers of the bucket.
func consumers(t *testing.T, s *Store) []string {
	t.Helper()
	stream, err := s.js.Stream(t.Context(), s.stream())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	list := stream.ConsumerNames(t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if err := list.Err(); err != nil && !errors.Is(err, jetstream.ErrEndOfData) {
		t.Fatal(err)
	}
	return names
}

func TestAllElectionsShareOneConsumer(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	var last <-chan storetest.Delivery
	for i := range 200 {
		last = storetest.Watch(t, s, fmt.Sprintf("election-%d", i))
	}
	storetest.Await(t, last, "the missing record", storetest.At(""))
	if names := consumers(t, s); len(names) != 1 {
		t.Errorf("200 watches have the consumers %q, want one", names)
	}
	created := storetest.Swap(t, s, "election-199", "", storetest.Held(1, "a"))
	storetest.Await(t, last, "the creation", storetest.At(created.Version))
}

// The last watch takes the consumer with it, and another one begins with another.
func TestConsumerEndsWithTheLastWatch(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	for range 3 {
		delivered := make(chan storetest.Delivery, 10)
		stop, err := s.Watch(t.Context(), "billing", func(snapshot tenure.Snapshot, err error) {
			delivered <- storetest.Delivery{Snapshot: snapshot, Err: err}
		})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Await(t, delivered, "the current state", storetest.At(created.Version))
		stop()
	}
	storetest.Eventually(t, "the subscriptions are gone", func() bool { return s.conn.NumSubscriptions() <= 1 }) // one is for replies
}

// A watch that is interrupted says so, and is restored with what happened meanwhile, which nobody pushed.
func TestWatchIsRestored(t *testing.T) {
	for name, interrupt := range map[string]func(t *testing.T, s *Store, server *testserver.NATS, meanwhile func()){
		"consumer deleted": func(t *testing.T, s *Store, _ *testserver.NATS, meanwhile func()) {
			for _, consumer := range consumers(t, s) {
				if err := s.js.DeleteConsumer(t.Context(), s.stream(), consumer); err != nil {
					t.Fatal(err)
				}
			}
			meanwhile()
		},
		"server restarted": func(_ *testing.T, _ *Store, server *testserver.NATS, meanwhile func()) {
			server.Restart()
			meanwhile()
		},
		"server killed": func(_ *testing.T, _ *Store, server *testserver.NATS, meanwhile func()) {
			server.Kill()
			server.Start()
			meanwhile()
		},
		"bucket deleted": func(t *testing.T, s *Store, _ *testserver.NATS, meanwhile func()) {
			if err := s.js.DeleteKeyValue(t.Context(), s.bucket); err != nil {
				t.Fatal(err)
			}
			meanwhile()
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.StartNATS(t)
			s, other := openStore(t, server.Addr, "elections?"+often[1:]), openStore(t, server.Addr, "elections")
			first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
			deliveries := storetest.Watch(t, s, "billing")
			storetest.Await(t, deliveries, "the current state", storetest.At(first.Version))
			var second tenure.Snapshot
			interrupt(t, s, server, func() {
				storetest.Eventually(t, "the record can be written", func() bool {
					current, err := other.Load(t.Context(), "billing")
					if err == nil {
						second, err = other.CompareAndSwap(t.Context(), "billing", current.Version, storetest.Held(2, "b"))
					}
					return err == nil
				})
			})
			storetest.Await(t, deliveries, "the interruption", storetest.Failed)
			storetest.Await(t, deliveries, "what happened meanwhile", storetest.At(second.Version))
			third := storetest.Swap(t, other, "billing", second.Version, storetest.Held(3, "a"))
			storetest.Await(t, deliveries, "a change after that", storetest.At(third.Version))
		})
	}
}

func TestCutConnectionInterruptsTheWatch(t *testing.T) {
	server := testserver.StartNATS(t)
	proxy := tcpproxy.Start(t, server.Addr)
	// With a heartbeat of 30 s it is not the silence that is noticed.
	s, other := openStore(t, proxy.Addr(), "elections?heartbeat=30s"), openStore(t, server.Addr, "elections")
	first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the current state", storetest.At(first.Version))
	proxy.Refuse(true)
	proxy.Cut()
	storetest.Await(t, deliveries, "the interruption", storetest.Failed)
	second := storetest.Swap(t, other, "billing", first.Version, storetest.Held(2, "b"))
	proxy.Refuse(false)
	storetest.Await(t, deliveries, "what happened meanwhile", storetest.At(second.Version))
}

// A connection that stands open and carries nothing looks like a quiet election. Its silence is noticed all the same,
// and the client looks for another server.
func TestSilentWatchIsNoticed(t *testing.T) {
	server := testserver.StartNATS(t)
	proxy := tcpproxy.Start(t, server.Addr)
	s, other := openStore(t, proxy.Addr(), "elections?"+often[1:]), openStore(t, server.Addr, "elections")
	first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the current state", storetest.At(first.Version))
	proxy.HoldReplies()
	if d := storetest.Await(t, deliveries, "the interruption", storetest.Failed); !errors.Is(d.Err, errSilent) {
		t.Errorf("the interruption is %v, want the silence", d.Err)
	}
	second := storetest.Swap(t, other, "billing", first.Version, storetest.Held(2, "b"))
	proxy.Release()
	storetest.Await(t, deliveries, "what happened meanwhile", storetest.At(second.Version))
}

// The client leaves a server that does not answer for another one, well before its pings would make it.
func TestClientLeavesASilentServer(t *testing.T) {
	t.Parallel()
	servers := testserver.StartNATSCluster(t, 3, nil)
	proxy := tcpproxy.Start(t, servers[0].Addr)
	first := "nats://" + proxy.Addr()
	js := connect(t, proxy.Addr()+",nats://"+servers[1].Addr, nats.DontRandomize(), nats.PingInterval(time.Hour),
		nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait))
	s, err := New(js, "elections", WithReplicas(3), WithHeartbeat(MinHeartbeat))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.owned = true // as Open would, with pings that are less rare
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the missing record", storetest.At(""))
	if got := s.conn.ConnectedUrl(); got != first {
		t.Fatalf("the client is at %s, want %s", got, first)
	}
	proxy.Hold()
	storetest.Await(t, deliveries, "the interruption", storetest.Failed)
	storetest.Await(t, deliveries, "the missing record, from another server", storetest.At(""))
	if s.conn.ConnectedUrl() == first {
		t.Error("the client is still at the silent server")
	}
	storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
}

// A message of the watch that gets lost on the way to it, as when a slow reader makes the client library drop it, is
// noticed by the gap that it leaves or by what the next sign of life says.
func TestLostMessagesAreNoticed(t *testing.T) {
	about := func(sequence int) string {
		return fmt.Sprintf("$JS.ACK.KV_elections.c.1.%d.%d.0.0", 100+sequence, sequence)
	}
	message := func(reply string) *nats.Msg {
		return &nats.Msg{Subject: "$KV.elections.billing", Reply: reply, Sub: &nats.Subscription{}}
	}
	for _, test := range []struct {
		name string
		next *nats.Msg
		want error
	}{
		{"the next message", message(about(2)), nil},
		{"a message too many", message(about(3)), errGap},
		{"a sign of life", signOfLife("1"), nil},
		{"a sign of life after a lost message", signOfLife("2"), errGap},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &consumer{store: &Store{bucket: "elections"}}
			if e, err := c.take(message(about(1))); err != nil || e.sequence != 101 || e.key != "billing" {
				t.Fatalf("the first message is taken as %+v, %v", e, err)
			}
			if _, err := c.take(test.next); !errors.Is(err, test.want) {
				t.Errorf("the error is %v, want %v", err, test.want)
			}
		})
	}
}

func TestClosedStoreTellsItsWatches(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the missing record", storetest.At(""))
	s.Close()
	if d := storetest.Await(t, deliveries, "the end", storetest.Failed); !errors.Is(d.Err, tenure.ErrPermanent) {
		t.Errorf("the last delivery is %v, want ErrPermanent", d.Err)
	}
}

// A bucket may hold what is none of ours, and more than fits into one answer.
func TestWatchOfALargeBucket(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	const others = 20000
	for i := range others {
		subject := s.subject(fmt.Sprintf("other-%d", i))
		if _, err := s.js.PublishAsync(subject, []byte("foreign"), jetstream.WithStallWait(soon)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-s.js.PublishAsyncComplete():
	case <-time.After(soon):
		t.Fatal("the values are not written")
	}
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the current state", storetest.At(created.Version))
	storetest.Eventually(t, "all are listed", func() bool { // a connection that was slow is made anew meanwhile
		names, err := s.List(t.Context())
		if err != nil {
			t.Logf("List failed: %v", err)
		} else if len(names) != others+1 {
			t.Fatalf("List returned %d names", len(names))
		}
		return err == nil
	})
}
