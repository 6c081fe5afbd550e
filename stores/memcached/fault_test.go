package memcached

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// A write whose reply is lost may have landed, and here has: any of the three certain errors would be a lie.
func TestLostReplyIsUnknown(t *testing.T) {
	server := testserver.StartMemcached(t)
	proxy := tcpproxy.Start(t, server.Addr)
	s := openStore(t, proxy.Addr())
	var current tenure.Snapshot
	for token, verb := range map[uint64]string{1: "add", 2: "cas"} {
		current = storetest.Load(t, s, "e"+verb)
		if verb == "cas" {
			current = storetest.Swap(t, s, "e"+verb, current.Version, storetest.Held(1, "a"))
		}
		lost := proxy.LoseReply(command(verb))
		_, err := s.CompareAndSwap(t.Context(), "e"+verb, current.Version, storetest.Held(token, "b"))
		<-lost
		for _, certain := range []error{nil, tenure.ErrConflict, tenure.ErrNotApplied, tenure.ErrPermanent} {
			if errors.Is(err, certain) {
				t.Errorf("%s whose reply was lost: %v", verb, err)
			}
		}
		if now := storetest.Load(t, s, "e"+verb); now.Record.Leader != "b" {
			t.Errorf("%s has not landed: %+v", verb, now)
		}
	}
}

// A lost reply to the read before a write is no unknown outcome: nothing was written.
func TestLostReadIsNotApplied(t *testing.T) {
	server := testserver.StartMemcached(t)
	proxy := tcpproxy.Start(t, server.Addr)
	s := openStore(t, proxy.Addr())
	proxy.LoseReply(command("gets"))
	if _, err := s.CompareAndSwap(t.Context(), "e", "", storetest.Held(1, "a")); !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("the error is %v", err)
	}
	if now := storetest.Load(t, s, "e"); now.Exists() {
		t.Errorf("written: %+v", now)
	}
}

func TestNoServerIsNotApplied(t *testing.T) {
	server := testserver.StartMemcached(t)
	s := openStore(t, server.Addr)
	server.Kill()
	if _, err := s.CompareAndSwap(t.Context(), "e", "", storetest.Held(1, "a")); !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("without a server: %v", err)
	}
	if err := written(s.client.Add(&memcache.Item{Key: "k"})); !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("a write without a server, once the connection has gone: %v", err)
	}
	server.Start()
	storetest.Swap(t, s, "e", storetest.Load(t, s, "e").Version, storetest.Held(1, "a"))
}

// Memory is full and nothing may be evicted: the record stays as it was, and the writer knows.
func TestFullServerIsNotApplied(t *testing.T) {
	server := testserver.StartMemcached(t, "-M", "-m", "2")
	s := openStore(t, server.Addr)
	before := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	full := storetest.Held(1, "a")
	full.Metadata = map[string]string{"filling": strings.Repeat("x", 100_000)}
	var err error
	for i := 0; err == nil && i < 10_000; i++ {
		_, err = s.CompareAndSwap(t.Context(), fmt.Sprint("filling ", i), "", full)
	}
	if !errors.Is(err, tenure.ErrNotApplied) {
		t.Fatalf("a full server: %v", err)
	}
	if now := storetest.Load(t, s, "e"); now.Version != before.Version {
		t.Errorf("the record is now %+v", now)
	}
}

func TestTooLargeIsPermanent(t *testing.T) {
	s := openStore(t, testserver.StartMemcached(t).Addr)
	large := storetest.Held(1, "a")
	large.Metadata = map[string]string{"large": strings.Repeat("x", 2<<20)}
	if _, err := s.CompareAndSwap(t.Context(), "e", "", large); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("an item of 2 MiB: %v", err)
	}
	if now := storetest.Load(t, s, "e"); now.Exists() {
		t.Errorf("written: %+v", now)
	}
}

// Evicted by other users of the cache, the record is reported as lost, once, and the token does not fall.
func TestEvictionIsReported(t *testing.T) {
	server := testserver.StartMemcached(t, "-m", "2")
	var losses []Loss
	s := openStore(t, server.Addr, WithLossObserver(func(l Loss) { losses = append(losses, l) }))
	storetest.Swap(t, s, "e", "", storetest.Held(7, "a"))
	item, _, err := s.get(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50_000 { // of the same size, since memory is kept by size
		if err := setItem(s, fmt.Sprint("filling ", i), string(item.Value)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if now := storetest.Load(t, s, "e"); now.Exists() || now.Record.Token != 7 {
			t.Errorf("after the eviction: %+v", now)
		}
	}
	if len(losses) != 1 || losses[0] != (Loss{Election: "e", Token: 7}) {
		t.Errorf("reported: %+v", losses)
	}
	g, err := s.Guarantee(t.Context())
	if err != nil || g.Grade != tenure.GradeBestEffort || !strings.Contains(g.Reasons[0], "vanish") {
		t.Errorf("guarantee: %+v, %v", g, err)
	}
}

// A server that restarts gives its own compare-and-swap numbers out again. Versions do not recur all the same.
func TestVersionsAfterARestart(t *testing.T) {
	server := testserver.StartMemcached(t)
	s := openStore(t, server.Addr)
	old := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	server.Kill()
	server.Start()
	_, _ = s.Load(t.Context(), "e") // over the connection that has died
	storetest.Swap(t, s, "e", storetest.Load(t, s, "e").Version, storetest.Held(2, "b"))
	if _, err := s.CompareAndSwap(t.Context(), "e", old.Version, storetest.Held(1, "a")); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("a version of the server's former life: %v", err)
	}
}

// Nothing is found in the place of a record but what a store of this kind has written there.
func TestForeignItemIsPermanent(t *testing.T) {
	s := openStore(t, testserver.StartMemcached(t).Addr)
	for name, text := range map[string]string{
		"text": "hello", "empty": "", "json": `{"a":1}`, "newer": `{"tenure_memcached":2,"election":"newer"}`,
		"another's": `{"tenure_memcached":1,"election":"e","version":"v","record":{"tenure":1,"token":1}}`,
		"bare":      `{"tenure_memcached":1,"election":"bare"}`,
	} {
		if err := setItem(s, name, text); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), name); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("%s: Load: %v", name, err)
		}
		if _, err := s.CompareAndSwap(t.Context(), name, "", storetest.Held(1, "a")); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("%s: CompareAndSwap: %v", name, err)
		}
	}
}

// at returns how candidates open stores at an address, each with a client of its own.
func at(t *testing.T, addr string, options ...Option) scenario.Open {
	return func() tenure.Store { return openStore(t, addr, options...) }
}

// What passes ends no term: a renewal that failed, or that nobody knows of, is followed by one that succeeds.
func TestTermOutlivesWhatPasses(t *testing.T) {
	t.Parallel()
	server := testserver.StartMemcached(t)
	proxy := tcpproxy.Start(t, server.Addr)
	loseWrite := func() { <-proxy.LoseReply(command("cas")) }
	loseRead := func() { <-proxy.LoseReply(command("gets")) }
	scenario.TermOutlives(t, at(t, proxy.Addr()),
		loseWrite, loseRead, loseWrite, loseRead, loseWrite, loseRead, proxy.Cut, scenario.Pause(server.Process))
}

// Three candidates stay one after the other through what ends terms, between them and a server that keeps its memory.
func TestFleetThroughFaults(t *testing.T) {
	t.Parallel()
	server := testserver.StartMemcached(t)
	scenario.Outages(t, at(t, server.Addr), scenario.Freeze(server.Process))
}

func TestLeaderIsCutOff(t *testing.T) {
	for name, cutOff := range scenario.CutOffs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(addr string) tenure.Store { return openStore(t, addr) }
			scenario.LeaderIsCutOff(t, testserver.StartMemcached(t).Addr, open, cutOff)
		})
	}
}

// The server forgets everything. Whoever lives has seen the last token, waits for the lease, and goes on above it.
func TestFleetThroughARestart(t *testing.T) {
	t.Parallel()
	server := testserver.StartMemcached(t)
	var lost atomic.Int32
	observe := WithLossObserver(func(Loss) { lost.Add(1) })
	scenario.Forgets(t, at(t, server.Addr, observe), scenario.Crash(server.Process))
	if lost.Load() == 0 {
		t.Error("nobody has reported the loss")
	}
}

// Close waits for the request of a call that its caller has given up.
func TestCloseWaitsForRequests(t *testing.T) {
	var ended atomic.Bool
	dialling := make(chan struct{})
	client := memcache.New("127.0.0.1:1")
	client.Timeout = 50 * time.Millisecond
	client.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		close(dialling)
		<-ctx.Done()
		ended.Store(true)
		return nil, ctx.Err()
	}
	s, err := New(client)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-dialling
		cancel()
	}()
	if _, err := s.Load(ctx, "e"); !errors.Is(err, context.Canceled) {
		t.Errorf("Load: %v", err)
	}
	if err := s.Close(); err != nil || !ended.Load() {
		t.Errorf("Close: %v, the request has ended: %v", err, ended.Load())
	}
}

// A call returns with its context, and Close waits for what it has left behind.
func TestFrozenServer(t *testing.T) {
	server := testserver.StartMemcached(t)
	s, err := Open(t.Context(), "memcached://"+server.Addr+"?timeout=200ms")
	if err != nil {
		t.Fatal(err)
	}
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Load(ctx, "e"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Load: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Load(t.Context(), "e"); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("Load of a closed store: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
