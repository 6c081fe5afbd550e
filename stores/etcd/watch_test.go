package etcd

import (
	"errors"
	"fmt"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestAllElectionsShareOneStream(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	before := server.Received()
	var last <-chan storetest.Delivery
	for i := range 200 {
		last = storetest.Watch(t, s, fmt.Sprintf("election-%d", i))
	}
	storetest.Await(t, last, "the missing record", storetest.At(""))
	if sent := server.Received() - before; sent != 2 {
		t.Errorf("200 watches took %d messages, want one read and one watch", sent)
	}
	created := storetest.Swap(t, s, "election-199", "", storetest.Held(1, "a"))
	storetest.Await(t, last, "the creation", storetest.At(created.Version))
}

// The last watch takes the stream with it, and another one begins with another.
func TestStreamEndsWithTheLastWatch(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
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
		storetest.Eventually(t, "there is one stream", func() bool { return server.Streams() == 1 })
		stop()
		storetest.Eventually(t, "the stream is gone", func() bool { return server.Streams() == 0 })
	}
}

// change writes over another client, as soon as that can.
func change(t *testing.T, s *Store, record tenure.Record) (changed tenure.Snapshot) {
	t.Helper()
	storetest.Eventually(t, "the record can be written", func() bool {
		current, err := s.Load(t.Context(), "billing")
		if err == nil {
			changed, err = s.CompareAndSwap(t.Context(), "billing", current.Version, record)
		}
		return err == nil
	})
	return changed
}

// A watch that is interrupted says so, and is restored with what happened meanwhile, which nobody pushed.
func TestWatchIsRestored(t *testing.T) {
	for name, interrupt := range map[string]func(server *testserver.Etcd){
		"restarted": func(server *testserver.Etcd) { server.Restart() },
		"killed":    func(server *testserver.Etcd) { server.Kill(); server.Start() },
		"emptied":   func(server *testserver.Etcd) { server.Kill(); server.Forget(); server.Start() },
	} {
		t.Run(name, func(t *testing.T) {
			server := testserver.StartEtcd(t)
			s, other := openStore(t, server.Addr, ""), openStore(t, server.Addr, "")
			for range 10 { // so that revisions of an emptied server are lower
				change(t, other, storetest.Held(1, "a"))
			}
			first := storetest.Load(t, s, "billing")
			deliveries := storetest.Watch(t, s, "billing")
			storetest.Await(t, deliveries, "the current state", storetest.At(first.Version))
			interrupt(server)
			second := change(t, other, storetest.Held(2, "b"))
			storetest.Await(t, deliveries, "the interruption", storetest.Failed)
			storetest.Await(t, deliveries, "what happened meanwhile", storetest.At(second.Version))
			third := storetest.Swap(t, other, "billing", second.Version, storetest.Held(3, "a"))
			storetest.Await(t, deliveries, "a change after that", storetest.At(third.Version))
		})
	}
}

// What happened while the connection was away was compacted before it is back, so that no stream can begin where the
// last one ended.
func TestCompactedWatchIsRestored(t *testing.T) {
	server := testserver.StartEtcd(t)
	proxy := tcpproxy.Start(t, server.Addr)
	s, other := openStore(t, proxy.Addr(), ""), openStore(t, server.Addr, "")
	first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the current state", storetest.At(first.Version))
	proxy.Refuse(true)
	proxy.Cut()
	storetest.Await(t, deliveries, "the interruption", storetest.Failed)
	change(t, other, storetest.Held(2, "b"))
	last := change(t, other, storetest.Held(3, "b"))
	compact(t, connect(t, server.Addr))
	proxy.Refuse(false)
	storetest.Await(t, deliveries, "what happened meanwhile", storetest.At(last.Version))
}

// A stream that begins at a revision which was compacted since it was read says so, and is not taken for a quiet one.
func TestStreamFromACompactedRevision(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	_, revision, err := s.all(t.Context(), s.names.prefix)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		change(t, s, storetest.Held(1, "a"))
	}
	compact(t, connect(t, server.Addr))
	w, err := s.stream(t.Context(), revision)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for err == nil {
		_, err = w.next()
	}
	if !errors.Is(err, errCompacted) {
		t.Errorf("the stream ended with %v, want that it was compacted", err)
	}
}

// A connection that stands open and carries nothing looks like a quiet election. Its silence is noticed all the same.
func TestSilentWatchIsNoticed(t *testing.T) {
	server := testserver.StartEtcd(t)
	proxy := tcpproxy.Start(t, server.Addr)
	s, other := openStore(t, proxy.Addr(), "?ping=100ms"), openStore(t, server.Addr, "")
	first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the current state", storetest.At(first.Version))
	proxy.HoldReplies()
	if d := storetest.Await(t, deliveries, "the interruption", storetest.Failed); !errors.Is(d.Err, errSilent) {
		t.Errorf("the interruption is %v, want the silence", d.Err)
	}
	second := change(t, other, storetest.Held(2, "b"))
	proxy.Release()
	storetest.Await(t, deliveries, "what happened meanwhile", storetest.At(second.Version))
}

// A quiet election is no silent member: it answers when it is asked.
func TestQuietWatchStands(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "?ping=100ms")
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the missing record", storetest.At(""))
	before := server.Received()
	storetest.Eventually(t, "it has been asked ten times", func() bool { return server.Received() >= before+10 })
	select {
	case d := <-deliveries:
		t.Errorf("delivered was %+v", d)
	default:
	}
}

// A member that stays behind what a majority has shown, as after a restore behind a proxy, is left. At the beginning it
// may be behind for a moment.
func TestMemberThatIsBehindIsLeft(t *testing.T) {
	reply := func(created bool, revision int64) *pb.WatchResponse {
		return &pb.WatchResponse{Created: created, Header: &pb.ResponseHeader{Revision: revision}}
	}
	w := &stream{revision: 10}
	for _, r := range []*pb.WatchResponse{reply(true, 8), reply(false, 10), reply(false, 12)} {
		if err := w.check(r); err != nil {
			t.Errorf("%v is refused: %v", r, err)
		}
	}
	if err := w.check(reply(false, 11)); !errors.Is(err, errBehind) {
		t.Errorf("a member that went back to 11 from 12: %v", err)
	}
}

func TestClosedStoreTellsItsWatches(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	deliveries := storetest.Watch(t, s, "billing")
	storetest.Await(t, deliveries, "the missing record", storetest.At(""))
	s.Close()
	if d := storetest.Await(t, deliveries, "the end", storetest.Failed); !errors.Is(d.Err, tenure.ErrPermanent) {
		t.Errorf("the last delivery is %v, want ErrPermanent", d.Err)
	}
}
