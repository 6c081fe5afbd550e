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
	var last <-chan delivery
	for i := range 200 {
		last = mustWatch(t, s, fmt.Sprintf("election-%d", i))
	}
	await(t, last, "the missing record", at(""))
	if sent := server.Received() - before; sent != 2 {
		t.Errorf("200 watches took %d messages, want one read and one watch", sent)
	}
	created := storetest.Swap(t, s, "election-199", "", storetest.Held(1, "a"))
	await(t, last, "the creation", at(created.Version))
}

// The last watch takes the stream with it, and another one begins with another.
func TestStreamEndsWithTheLastWatch(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	for range 3 {
		delivered := make(chan delivery, 10)
		stop, err := s.Watch(t.Context(), "billing", func(snapshot tenure.Snapshot, err error) { delivered <- delivery{snapshot, err} })
		if err != nil {
			t.Fatal(err)
		}
		await(t, delivered, "the current state", at(created.Version))
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
			deliveries := mustWatch(t, s, "billing")
			await(t, deliveries, "the current state", at(first.Version))
			interrupt(server)
			second := change(t, other, storetest.Held(2, "b"))
			await(t, deliveries, "the interruption", failure)
			await(t, deliveries, "what happened meanwhile", at(second.Version))
			third := storetest.Swap(t, other, "billing", second.Version, storetest.Held(3, "a"))
			await(t, deliveries, "a change after that", at(third.Version))
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
	deliveries := mustWatch(t, s, "billing")
	await(t, deliveries, "the current state", at(first.Version))
	proxy.Refuse(true)
	proxy.Cut()
	await(t, deliveries, "the interruption", failure)
	change(t, other, storetest.Held(2, "b"))
	last := change(t, other, storetest.Held(3, "b"))
	compact(t, connect(t, server.Addr))
	proxy.Refuse(false)
	await(t, deliveries, "what happened meanwhile", at(last.Version))
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
	deliveries := mustWatch(t, s, "billing")
	await(t, deliveries, "the current state", at(first.Version))
	proxy.HoldReplies()
	if d := await(t, deliveries, "the interruption", failure); !errors.Is(d.err, errSilent) {
		t.Errorf("the interruption is %v, want the silence", d.err)
	}
	second := change(t, other, storetest.Held(2, "b"))
	proxy.Release()
	await(t, deliveries, "what happened meanwhile", at(second.Version))
}

// A quiet election is no silent member: it answers when it is asked.
func TestQuietWatchStands(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "?ping=100ms")
	deliveries := mustWatch(t, s, "billing")
	await(t, deliveries, "the missing record", at(""))
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
	deliveries := mustWatch(t, s, "billing")
	await(t, deliveries, "the missing record", at(""))
	s.Close()
	if d := await(t, deliveries, "the end", failure); !errors.Is(d.err, tenure.ErrPermanent) {
		t.Errorf("the last delivery is %v, want ErrPermanent", d.err)
	}
}
