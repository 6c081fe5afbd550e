package redis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// isSwap matches the request of a swap with this session.
func isSwap(session string) func([]byte) bool {
	return func(request []byte) bool { return bytes.Contains(request, []byte(session)) }
}

// A write whose reply is lost was sent once, whatever the client is told to repeat: the outcome is unknown, and a load
// shows it.
func TestReplyLost(t *testing.T) {
	server := testserver.StartRedis(t)
	proxy := tcpproxy.Start(t, server.Addr)
	s := newStore(t, newClient(t, proxy.Addr(), func(o *redis.Options) { o.MaxRetries = 5 }))
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	server.MustDo("CONFIG RESETSTAT")

	lost := proxy.LoseReply(isSwap(`"session":"two"`))
	_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
	<-lost
	if !unknown(err) {
		t.Errorf("the error of a lost reply is %v, want one that leaves the outcome open", err)
	}
	if got := server.Calls()["evalsha"]; got != 1 {
		t.Errorf("the server got %d requests, want 1", got)
	}
	if got := storetest.Load(t, s, "e"); got.Record.Session != "two" {
		t.Errorf("the record is %+v, want the one whose reply was lost", got.Record)
	}
}

// A request that something on the way repeats has the answer that the first one had: its own write is no conflict.
func TestRepeatedRequestHasTheFirstAnswer(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	before := storetest.Swap(t, s, "e", "", leader(1, "one"))
	record := tenure.Record{Token: 2}
	text, err := encode(record)
	must(t, err)
	keys, args := s.arguments("e", before.Version, next(before.Version), record, text)
	for range 2 {
		if written, err := s.write(t.Context(), keys, args); written == nil || err != nil {
			t.Errorf("the answer is %v, %v, want that it was written", written, err)
		}
	}
	storetest.Swap(t, s, "e", storetest.Load(t, s, "e").Version, leader(3, "three"))
	if written, err := s.write(t.Context(), keys, args); written != nil || err != nil {
		t.Errorf("repeated after it was replaced, the write has the answer %v, %v, want a conflict", written, err)
	}
}

func TestScriptCacheFlushed(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	current := storetest.Swap(t, s, "e", "", leader(1, "one"))
	server.MustDo("SCRIPT FLUSH")
	current = storetest.Swap(t, s, "e", current.Version, leader(2, "two"))
	server.MustDo("SCRIPT FLUSH")
	if got := storetest.Load(t, s, "e"); got.Version != current.Version {
		t.Errorf("loaded version %s, want %s", got.Version, current.Version)
	}
	server.MustDo("CONFIG RESETSTAT")
	current = storetest.Swap(t, s, "e", current.Version, leader(3, "three")) // by its source, which the server keeps
	storetest.Swap(t, s, "e", current.Version, leader(4, "four"))
	if calls := server.Calls(); calls["eval"] != 1 || calls["evalsha"] != 2 {
		t.Errorf("the server counts %d calls by source and %d by digest, want 1 and 2", calls["eval"], calls["evalsha"])
	}
}

// A watch is told that its connection is gone, and afterwards the current state with all that it has missed.
func TestWatchIsRestored(t *testing.T) {
	server := testserver.StartRedis(t)
	proxy := tcpproxy.Start(t, server.Addr)
	watching, other := newStore(t, newClient(t, proxy.Addr())), storeAt(t, server)
	first := storetest.Swap(t, other, "e", "", leader(1, "one"))
	box := watchInto(t, watching, "e")
	n := box.await(t, "the current state", 0, version(first.Version))
	proxy.Refuse(true)
	proxy.Cut()
	n = box.await(t, "the interruption", n, interrupted)
	missed := storetest.Swap(t, other, "e", first.Version, leader(2, "two"))
	proxy.Refuse(false)
	n = box.await(t, "what it has missed", n, version(missed.Version))
	next := storetest.Swap(t, other, "e", missed.Version, leader(3, "three"))
	box.await(t, "the next change", n, version(next.Version))
}

// Of a connection that stands open and carries nothing no reset tells. The probe does.
func TestHalfOpenSubscriptionIsNoticed(t *testing.T) {
	t.Parallel()
	server := testserver.StartRedis(t)
	proxy := tcpproxy.Start(t, server.Addr)
	watching := newStore(t, newClient(t, proxy.Addr()), WithPing(time.Second))
	first := storetest.Swap(t, watching, "e", "", leader(1, "one"))
	box := watchInto(t, watching, "e")
	n := box.await(t, "the current state", 0, version(first.Version))
	proxy.Hold()
	n = box.await(t, "the interruption", n, interrupted)
	missed := storetest.Swap(t, storeAt(t, server), "e", first.Version, leader(2, "two"))
	proxy.Release()
	box.await(t, "what it has missed", n, version(missed.Version))
}

// What somebody else publishes is no state of an election.
func TestForeignMessage(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	box := watchInto(t, s, "e")
	n := box.await(t, "the current state", 0, version(first.Version))
	server.MustDo("PUBLISH " + s.layout.channel("e") + " hello")
	n = box.await(t, "that something is wrong", n, func(d delivery) bool { return errors.Is(d.err, tenure.ErrPermanent) })
	box.await(t, "the current state", n, version(first.Version))
}

// A killed server with an append-only file has all that it acknowledged when it is back, and the watch goes on.
func TestKilledAndBack(t *testing.T) {
	server := testserver.StartRedis(t, "--appendonly", "yes")
	s := storeAt(t, server)
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	box := watchInto(t, s, "e")
	n := box.await(t, "the current state", 0, version(first.Version))
	server.Kill()
	n = box.await(t, "the interruption", n, interrupted)
	_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
	if !errors.Is(err, tenure.ErrNotApplied) && !unknown(err) {
		t.Errorf("without a server the error is %v", err)
	}
	server.Start()
	box.await(t, "the current state", n, version(first.Version))
	storetest.Swap(t, s, "e", first.Version, leader(2, "two"))
}

// After a loss of all data versions do not recur, though tokens may.
func TestVersionsDoNotRecurAfterALoss(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	seen := map[tenure.Version]bool{}
	for range 3 {
		var current tenure.Version
		for token := range uint64(3) {
			current = storetest.Swap(t, s, "e", current, leader(token+1, "same")).Version
			if seen[current] {
				t.Fatalf("version %s recurs", current)
			}
			seen[current] = true
		}
		server.MustDo("FLUSHALL")
	}
}

func TestReadOnlyReplica(t *testing.T) {
	master := testserver.StartRedis(t)
	replica := testserver.StartReplica(t, master)
	first := storetest.Swap(t, storeAt(t, master), "e", "", leader(1, "one"))
	replica.Await("HGET tenure:{"+bucketOf("e")+"}:election:e version", string(first.Version))
	s := storeAt(t, replica)
	_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
	must(t, isFor(err, tenure.ErrNotApplied))
	if g, err := s.Guarantee(t.Context()); err != nil || g.Grade != tenure.GradeUnknown {
		t.Errorf("the guarantee of a replica is %v, %v, want unknown", g, err)
	}
}

func bucketOf(election string) string {
	_, rest, _ := strings.Cut(layout{}.record(election), "{")
	number, _, _ := strings.Cut(rest, "}")
	return number
}

func TestOutOfMemory(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	server.MustDo("CONFIG SET maxmemory 1")
	_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
	must(t, isFor(err, tenure.ErrNotApplied))
	_, err = s.CompareAndSwap(t.Context(), "f", "", leader(1, "one"))
	must(t, isFor(err, tenure.ErrNotApplied))
	if got := storetest.Load(t, s, "e"); got.Version != first.Version {
		t.Errorf("a write that was refused is there: %+v", got)
	}
	server.MustDo("CONFIG SET maxmemory 0")
	storetest.Swap(t, s, "e", first.Version, leader(2, "two"))
}

func TestBusy(t *testing.T) {
	server := testserver.StartRedis(t, "--lua-time-limit", "10")
	s := storeAt(t, server)
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	ended := make(chan error, 1)
	go func() {
		ended <- newClient(t, server.Addr, func(o *redis.Options) { o.ReadTimeout = -1 }).
			Eval(context.Background(), "while true do end", nil).Err()
	}()
	storetest.Eventually(t, "a script keeps the server busy", func() bool {
		_, err := server.Do("PING")
		return err != nil && strings.HasPrefix(err.Error(), "BUSY")
	})
	_, err := s.CompareAndSwap(t.Context(), "e", first.Version, leader(2, "two"))
	must(t, isFor(err, tenure.ErrNotApplied))
	server.MustDo("SCRIPT KILL")
	<-ended
	storetest.Swap(t, s, "e", first.Version, leader(2, "two"))
}

// A server that reads its data at start, here for some seconds, refuses everything. It syncs each write: one that waits
// for a sync in the background would be lost with the process, and there would be little to read.
func TestLoading(t *testing.T) {
	t.Parallel()
	server := testserver.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no",
		"--auto-aof-rewrite-percentage", "0", "--loading-process-events-interval-bytes", "1024",
		"--key-load-delay", "400") // microseconds
	// With so large a pool the client tries to connect whenever it is asked, however often that has failed.
	s := newStore(t, newClient(t, server.Addr, func(o *redis.Options) { o.PoolSize = 1 << 20 }))
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	server.MustDo(`EVAL "for i = 1, 5000 do redis.call('SET', 'key' .. i % 1000, string.rep('x', 200)) end" 0`)
	server.Kill()
	var starting sync.WaitGroup
	starting.Go(server.Start)
	storetest.Eventually(t, "a write is refused because the server loads", func() bool {
		_, err := s.CompareAndSwap(t.Context(), "e", "wrong", leader(2, "two"))
		if err == nil || !strings.Contains(err.Error(), "LOADING") {
			return false
		}
		must(t, isFor(err, tenure.ErrNotApplied))
		return true
	})
	starting.Wait()
	storetest.Swap(t, s, "e", first.Version, leader(2, "two"))
}

// What is under the key of a record but is none is never overwritten.
func TestForeignData(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	key := s.layout.record("e")
	client := newClient(t, server.Addr)
	for what, fields := range map[string][]any{
		"another hash":      {"name", "value"},
		"no record":         {"version", "1-x", "record", "hello"},
		"a later format":    {"version", "1-x", "record", `{"tenure":2,"token":1}`},
		"a missing version": {"record", `{"tenure":1,"token":1}`},
		"a string":          nil,
	} {
		server.MustDo("DEL " + key)
		if fields == nil {
			server.MustDo("SET " + key + " hello")
		} else {
			must(t, client.HSet(t.Context(), key, fields...).Err())
		}
		if _, err := s.Load(t.Context(), "e"); !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), `"e"`) {
			t.Errorf("%s: loading it, the error is %v", what, err)
		}
		_, err := s.CompareAndSwap(t.Context(), "e", "", leader(1, "one"))
		if !errors.Is(err, tenure.ErrPermanent) && !errors.Is(err, tenure.ErrConflict) {
			t.Errorf("%s: writing over it, the error is %v", what, err)
		}
	}
	server.MustDo("DEL " + key)
	server.MustDo("SET " + s.layout.floor(bucket("e")) + " hello")
	if _, err := s.Load(t.Context(), "e"); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("a damaged floor: the error is %v", err)
	}
}

// A record that nobody could read again is refused before it is sent.
func TestUnreadableRecordIsNotWritten(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	for _, r := range []tenure.Record{
		{Token: tenure.MaxToken + 1},
		{Token: 1, TTL: time.Microsecond},
		{Token: 1, TTL: -time.Second},
		{Token: 1, TTL: tenure.MaxTTL + time.Second},
		{Token: 1, Leader: "no session", TTL: time.Second},
		{Token: 1, Leader: "no TTL", Session: "one"},
		{Token: 1, Extra: map[string]json.RawMessage{"x": []byte("{")}},
	} {
		if _, err := s.CompareAndSwap(t.Context(), "e", "", r); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("%+v: the error is %v, want one that is permanent", r, err)
		}
	}
	if storetest.Load(t, s, "e").Exists() {
		t.Error("one of them was written")
	}
}

func TestClosedStore(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	box := watchInto(t, s, "e")
	n := box.await(t, "the current state", 0, version(""))
	must(t, s.Close())
	box.await(t, "the end", n, func(d delivery) bool { return errors.Is(d.err, tenure.ErrPermanent) })
	must(t, s.Close())
	storetest.Closed(t, "a closed store", s)
	must(t, newClient(t, server.Addr).Ping(t.Context()).Err())
	if err := s.client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the client, which is not the store's, is closed: %v", err)
	}
}

// A subscription that stands and answers, but at a server that is not the master any more, delivers nothing. Whoever
// begins a watch anew, as a candidate does that has heard nothing for a lease, finds that out for all.
func TestSubscriptionAtAFormerMaster(t *testing.T) {
	former := testserver.StartRedis(t)
	master := testserver.StartReplica(t, former)
	var addr atomic.Value
	addr.Store(former.Addr)
	s := newStore(t, newClient(t, former.Addr, func(o *redis.Options) {
		o.ConnMaxLifetime = time.Nanosecond // requests go to where new connections go
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr.Load().(string))
		}
	}))
	first := storetest.Swap(t, s, "e", "", leader(1, "one"))
	box := watchInto(t, s, "e")
	n := box.await(t, "the current state", 0, version(first.Version))
	master.Await("HGET "+s.layout.record("e")+" version", string(first.Version))
	master.MustDo("REPLICAOF NO ONE")
	addr.Store(master.Addr)
	second := storetest.Swap(t, s, "e", first.Version, leader(2, "two"))
	watchInto(t, s, "e").await(t, "the current state", 0, version(second.Version))
	n = box.await(t, "the interruption", n, interrupted)
	n = box.await(t, "what it has missed", n, version(second.Version))
	third := storetest.Swap(t, s, "e", second.Version, leader(3, "three"))
	box.await(t, "a change at the new master", n, version(third.Version))
}

// Nobody waits for a frozen server longer than he wants to, on a connection that stands and on one that is to be made,
// with a client that knows contexts and with one that does not.
func TestCallsEndWithTheirContext(t *testing.T) {
	server := testserver.StartRedis(t)
	connect := func(prompt bool) *Store {
		return newStore(t, newClient(t, server.Addr, func(o *redis.Options) {
			o.ReadTimeout, o.ContextTimeoutEnabled = time.Hour, prompt
		}))
	}
	stores := map[string]*Store{"warm": connect(true), "cold": connect(true), "warm, deaf": connect(false), "cold, deaf": connect(false)}
	for what, s := range stores {
		if strings.HasPrefix(what, "warm") {
			storetest.Load(t, s, "e")
		}
	}
	server.Freeze()
	for what, s := range stores {
		ended := make(chan error, 2)
		for _, request := range []func(ctx context.Context) error{
			func(ctx context.Context) error { _, err := s.Load(ctx, "e"); return err },
			func(ctx context.Context) error {
				_, err := s.CompareAndSwap(ctx, "e", "", leader(1, "one"))
				return err
			},
		} {
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
				defer cancel()
				ended <- request(ctx)
			}()
		}
		for range 2 {
			select {
			case err := <-ended:
				if err == nil || errors.Is(err, tenure.ErrConflict) {
					t.Errorf("%s: a frozen server has answered: %v", what, err)
				}
			case <-time.After(patience):
				t.Fatalf("%s: the call goes on %v after its context has ended", what, patience)
			}
		}
	}
	server.Thaw()
}
