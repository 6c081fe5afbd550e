package natskv

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Story 24: the reply is lost after the server has stored the write. The outcome is unknown, never a conflict, and the
// record tells.
func TestLostReplyIsUnknown(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t)
	proxy := tcpproxy.Start(t, server.Addr)
	s := openStore(t, proxy.Addr(), "elections")
	first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	lost := proxy.LoseReply(func(request []byte) bool { return bytes.Contains(request, []byte("$KV.elections.billing")) })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // nothing comes, so it is waited for in full
	defer cancel()
	next := storetest.Held(1, "a")
	next.Renewals = 1
	_, err := s.CompareAndSwap(ctx, "billing", first.Version, next)
	<-lost
	storetest.Want(t, storetest.Unknown, err)
	storetest.Eventually(t, "the store is connected again", s.conn.IsConnected)
	if got := storetest.Load(t, s, "billing"); got.Record.Renewals != 1 {
		t.Errorf("the record is %+v, want the write whose reply was lost", got.Record)
	}
	if _, err := s.CompareAndSwap(t.Context(), "billing", first.Version, next); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("the same write again returned %v, want a conflict", err)
	}
}

// What is asked while there is no connection must not be sent when nobody waits for it any more, as the client library
// would by itself.
func TestNothingIsSentAfterTheCall(t *testing.T) {
	server := testserver.StartNATS(t)
	proxy := tcpproxy.Start(t, server.Addr)
	js := connect(t, proxy.Addr(), nats.ReconnectWait(reconnectWait), nats.MaxReconnects(-1), nats.ReconnectBufSize(1<<20))
	theirs, err := New(js, "elections")
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	for name, s := range map[string]*Store{"New": theirs, "Open": openStore(t, proxy.Addr(), "elections")} {
		t.Run(name, func(t *testing.T) {
			storetest.Eventually(t, "the store is connected", s.conn.IsConnected)
			first := storetest.Swap(t, s, name, "", storetest.Held(1, "a"))
			proxy.Refuse(true)
			proxy.Cut()
			storetest.Eventually(t, "the store is disconnected", func() bool { return !s.conn.IsConnected() })
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if _, err := s.CompareAndSwap(ctx, name, first.Version, storetest.Held(2, "b")); !errors.Is(err, tenure.ErrNotApplied) {
				t.Errorf("without a connection CompareAndSwap returned %v, want ErrNotApplied", err)
			}
			if _, err := s.Load(ctx, name); err == nil {
				t.Error("without a connection Load returned no error")
			}
			proxy.Refuse(false)
			storetest.Eventually(t, "the store is connected again", s.conn.IsConnected)
			if err := s.conn.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := storetest.Load(t, s, name); got.Version != first.Version {
				t.Errorf("the record is %+v, want the one from before", got)
			}
		})
	}
}

// A replica that the others cannot reach goes on answering, with what is old. So reads are asked of the stream's leader,
// even of a bucket whose settings let the client library ask any replica.
func TestReadsAskTheLeader(t *testing.T) {
	t.Parallel()
	routes := make(map[int][]*tcpproxy.Proxy)
	servers := testserver.StartNATSCluster(t, 3, func(from, to int, addr string) string {
		p := tcpproxy.Start(t, addr)
		routes[from], routes[to] = append(routes[from], p), append(routes[to], p)
		return p.Addr()
	})
	js := connect(t, servers[0].Addr)
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "elections", Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	leader := streamLeader(t, openStore(t, servers[0].Addr, "elections"), servers)
	alone := (leader + 1) % 3
	s, other := openStore(t, servers[alone].Addr, "elections"), openStore(t, servers[leader].Addr, "elections")
	if info, err := s.info(t.Context()); err != nil || !info.Config.AllowDirect {
		t.Fatalf("the client library's bucket does not let it ask any replica: %v", err)
	}
	old := storetest.Swap(t, other, "billing", "", storetest.Held(1, "a"))
	storetest.Await(t, storetest.Watch(t, s, "billing"), "the creation", storetest.At(old.Version)) // the replica has it
	storetest.Eventually(t, "the replica answers by itself", func() bool {                          // which it begins to do some time after it has it
		for _, p := range routes[alone] {
			p.Hold()
		}
		answer, err := s.conn.Request("$JS.API.DIRECT.GET."+s.stream()+"."+s.subject("billing"), nil, 200*time.Millisecond)
		if err == nil && answer.Header.Get("Nats-Sequence") == string(old.Version) {
			return true
		}
		for _, p := range routes[alone] {
			p.Release()
		}
		return false
	})
	storetest.Swap(t, other, "billing", old.Version, storetest.Held(2, "b"))
	for range 20 { // any of those that may be asked is
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		got, err := s.Load(ctx, "billing")
		cancel()
		if err == nil && got.Record.Token < 2 {
			t.Fatalf("Load returned the token %d, which is no longer there", got.Record.Token)
		}
	}
}

func TestFrozenServerIsUnknown(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // nothing comes, so it is waited for in full
	defer cancel()
	_, err := s.CompareAndSwap(ctx, "billing", first.Version, storetest.Held(2, "b"))
	storetest.Want(t, storetest.Unknown, err)
	server.Thaw()
	storetest.Eventually(t, "the write landed", func() bool {
		got, err := s.Load(t.Context(), "billing")
		return err == nil && got.Record.Token == 2
	})
}

// Of bids that meet on their way into the copies one wins. The others hear of a conflict, or that nothing was written,
// if they met it for too long.
func TestBidsMeetOnTheirWay(t *testing.T) {
	cluster := testserver.StartNATSCluster(t, 3, nil)
	s := openStore(t, cluster[0].Addr, "elections?replicas=3")
	current := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	for round := range uint64(50) {
		var bids sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			bids.Go(func() {
				_, errs[i] = s.CompareAndSwap(t.Context(), "billing", current.Version, storetest.Held(round+2, "a"))
			})
		}
		bids.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, tenure.ErrConflict) && !errors.Is(err, tenure.ErrNotApplied):
				t.Fatal(err)
			}
		}
		if won != 1 {
			t.Fatalf("%d of %d bids from one version won", won, len(errs))
		}
		current = storetest.Load(t, s, "billing")
	}
}

// Tokens and versions go on when somebody deletes a record by hand, in whichever way.
func TestVersionsNeverRecurAfterDeletion(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	kv := keyValue(t, s)
	seen := make(map[tenure.Version]bool)
	create := func() {
		t.Helper()
		created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
		if seen[created.Version] {
			t.Fatalf("the version %q came twice", created.Version)
		}
		seen[created.Version] = true
	}
	create()
	for name, remove := range map[string]func() error{
		"deleted": func() error { return kv.Delete(t.Context(), "billing") },
		"purged":  func() error { return kv.Purge(t.Context(), "billing") },
		"compacted": func() error {
			return errors.Join(kv.Delete(t.Context(), "billing"), kv.PurgeDeletes(t.Context(), jetstream.DeleteMarkersOlderThan(-1)))
		},
		"gone with the bucket": func() error { return s.js.DeleteKeyValue(t.Context(), "elections") },
	} {
		if err := remove(); err != nil {
			t.Fatal(err)
		}
		// The call that finds the bucket gone fails, and the next one makes another.
		var missing tenure.Snapshot
		storetest.Eventually(t, "the missing record can be loaded", func() bool {
			var err error
			missing, err = s.Load(t.Context(), "billing")
			return err == nil
		})
		if missing.Exists() {
			t.Fatalf("%s: the record is still there", name)
		}
		create()
	}
}

// A write that expects a record which was there before the bucket was deleted finds none like it.
func TestAVersionFromADeletedBucketIsAConflict(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	var old tenure.Snapshot
	for n := range uint64(5) {
		old = storetest.Swap(t, s, "billing", old.Version, storetest.Held(n+1, "a"))
	}
	if err := s.js.DeleteKeyValue(t.Context(), "elections"); err != nil {
		t.Fatal(err)
	}
	other := openStore(t, server.Addr, "elections")
	var current tenure.Snapshot
	for n := range uint64(10) {
		current = storetest.Swap(t, other, "billing", current.Version, storetest.Held(n+1, "b"))
		if _, err := s.CompareAndSwap(t.Context(), "billing", old.Version, storetest.Held(6, "a")); !errors.Is(err, tenure.ErrConflict) {
			t.Fatalf("a swap from a version of the deleted bucket returned %v", err)
		}
	}
}

func TestForeignValueIsPermanentAndStays(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	kv := keyValue(t, s)
	if _, err := kv.PutString(t.Context(), "billing", "not a record"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "billing"); !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), `"billing"`) {
		t.Errorf("Load returned %v, want ErrPermanent with the name", err)
	}
	if _, err := s.CompareAndSwap(t.Context(), "billing", "", storetest.Held(1, "a")); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("CompareAndSwap returned %v, want ErrConflict", err)
	}
	if names, err := s.Prune(t.Context(), 0); !errors.Is(err, tenure.ErrPermanent) || len(names) > 0 {
		t.Errorf("Prune returned %q, %v, want ErrPermanent", names, err)
	}
	if e, err := kv.Get(t.Context(), "billing"); err != nil || string(e.Value()) != "not a record" {
		t.Errorf("the value is %v, %v", e, err)
	}
}

func TestTooLargeARecordIsPermanent(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	record := storetest.Held(1, "a")
	record.Metadata = map[string]string{"long": strings.Repeat("x", 2<<20)}
	if _, err := s.CompareAndSwap(t.Context(), "billing", "", record); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("CompareAndSwap returned %v, want ErrPermanent", err)
	}
	if _, err := s.CompareAndSwap(t.Context(), "billing", "", storetest.Held(1, "a")); err != nil {
		t.Errorf("a record that is not too large: %v", err)
	}
}

func TestClosedStoreAndConnection(t *testing.T) {
	server := testserver.StartNATS(t)
	js := connect(t, server.Addr)
	s, err := New(js, "elections")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !js.Conn().IsConnected() {
		t.Error("Close closed the caller's connection")
	}
	storetest.Closed(t, "a closed store", s)
	other, err := New(js, "elections")
	if err != nil {
		t.Fatal(err)
	}
	js.Conn().Close()
	storetest.Closed(t, "a store over a closed connection", other)
	opened := openStore(t, server.Addr, "elections")
	if opened.Close(); !opened.conn.IsClosed() {
		t.Error("Close left the connection that Open made")
	}
}
