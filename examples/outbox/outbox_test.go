package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/examples/internal/exampletest"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/postgres"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

// office is a database with an outbox, a receiver, and relays by their IDs.
type office struct {
	t      *testing.T
	url    string
	pool   *pgxpool.Pool
	wire   *wire
	relays map[string]*testserver.Process
}

// wire is between the relays and the receiver, and sees what is delivered.
type wire struct {
	receiver http.Handler

	mu   sync.Mutex
	keys []string              // delivered, repeated ones too
	hold func(key string) bool // after the receiver has taken it, and before the relay hears of it
	held chan string           // the token of who is held
	free chan struct{}
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	key, token := r.Header.Get("Idempotency-Key"), r.Header.Get("Tenure-Token")
	taken := httptest.NewRecorder()
	w.receiver.ServeHTTP(taken, r)
	w.mu.Lock()
	w.keys = append(w.keys, key)
	hold := w.hold != nil && w.hold(key)
	w.mu.Unlock()
	if hold {
		w.held <- token
		<-w.free
	}
	rw.WriteHeader(taken.Code)
}

func (w *wire) delivered(key string) (times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.keys {
		if k == key {
			times++
		}
	}
	return times
}

// TestOutbox on one server, where each case has a database of its own.
func TestOutbox(t *testing.T) {
	server := testserver.StartPostgres(t)
	for name, test := range map[string]func(t *testing.T, database string){
		"a leader is frozen between delivery and mark": frozenRelay,
		"a leader is killed between delivery and mark": killedRelay,
		"the clocks of a leader stood still":           onlyTheFenceIsLeft,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("test_%d", time.Now().UnixNano())
			pool := open(t, server.URL())
			if _, err := pool.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
				t.Fatal(err)
			}
			test(t, strings.Replace(server.URL(), "/postgres?", "/"+name+"?", 1))
		})
	}
}

func open(t *testing.T, database string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func newOffice(t *testing.T, database string) *office {
	t.Helper()
	port := testserver.Addr(testserver.Port(t))
	testserver.Start(t, testserver.Command{
		Program: exampletest.Build(t, "./receiver"), Args: []string{"-database", database, "-listen", port},
		Ready: testserver.Dial(port),
	})
	w := &wire{
		receiver: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: port}),
		held:     make(chan string, 1), free: make(chan struct{}),
	}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	program := exampletest.Build(t, ".")
	testserver.Run(t, testserver.Command{Program: program, Args: []string{"-database", database, "-migrate"}})
	o := &office{t, database, open(t, database), w, map[string]*testserver.Process{}}
	for _, id := range []string{"a", "b", "c"} {
		o.relays[id] = exampletest.Start(t, nil, program,
			"-database", database, "-to", server.URL, "-id", id, "-ttl", "2s", "-every", "20ms")
	}
	return o
}

// write inserts messages, as an application does in its own transactions.
func (o *office) write(payloads ...string) {
	o.t.Helper()
	for _, payload := range payloads {
		if _, err := o.pool.Exec(o.t.Context(), "INSERT INTO outbox (payload) VALUES ($1)", payload); err != nil {
			o.t.Fatal(err)
		}
	}
}

// marks returns the token of each message in their order, 0 for those that are pending.
func (o *office) marks() []int64 {
	o.t.Helper()
	rows, err := o.pool.Query(o.t.Context(), "SELECT coalesce(relayed_under, 0) FROM outbox ORDER BY id")
	if err != nil {
		o.t.Fatal(err)
	}
	tokens, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		o.t.Fatal(err)
	}
	return tokens
}

// awaitRelayed waits until all messages are relayed, and returns the token of the last.
func (o *office) awaitRelayed() int64 {
	o.t.Helper()
	var marks []int64
	storetest.Eventually(o.t, "all messages are relayed", func() bool {
		marks = o.marks()
		return !slices.Contains(marks, 0)
	})
	if !slices.IsSorted(marks) {
		o.t.Fatalf("a deposed leader has marked messages after its successor: %v", marks)
	}
	return marks[len(marks)-1]
}

// leader returns the relay that was elected with a token.
func (o *office) leader(token string) *testserver.Process {
	o.t.Helper()
	for id, p := range o.relays {
		if strings.Contains(p.Log(), fmt.Sprintf("elected election=outbox candidate=%s token=%s ", id, token)) {
			return p
		}
	}
	o.t.Fatalf("nobody was elected with token %s", token)
	return nil
}

// checkReceived compares what the receiver has taken, in the order in which it has, with what was written.
func (o *office) checkReceived(want ...string) {
	o.t.Helper()
	rows, err := o.pool.Query(o.t.Context(), "SELECT payload FROM inbox ORDER BY number")
	if err != nil {
		o.t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Equal(got, want) {
		o.t.Errorf("the receiver has %q, %v, want %q", got, err, want)
	}
}

// holdFirst stops the first delivery of a message when the receiver has taken it, and returns the token of its relay.
func (o *office) holdFirst(message string, write func()) (token string) {
	o.t.Helper()
	o.wire.mu.Lock()
	held := false
	o.wire.hold = func(key string) bool {
		first := key == message && !held
		held = held || first
		return first
	}
	o.wire.mu.Unlock()
	write()
	select {
	case token = <-o.wire.held:
	case <-time.After(time.Minute):
		o.t.Fatalf("%s is not delivered", message)
	}
	return token
}

// frozenRelay is frozen past its lease.
func frozenRelay(t *testing.T, database string) {
	o := newOffice(t, database)
	o.write("one", "two")
	first := o.awaitRelayed()
	token := o.holdFirst("outbox-3", func() { o.write("three", "four") })
	frozen := o.leader(token)
	frozen.Freeze()
	close(o.wire.free) // the answer is there when it wakes up
	if second := o.awaitRelayed(); second <= first {
		t.Errorf("the messages of token %d were relayed under %d", first, second)
	}
	frozen.Thaw()
	exampletest.AwaitLog(t, frozen, "INFO ended")
	o.write("five")
	o.awaitRelayed()
	if times := o.wire.delivered("outbox-3"); times < 2 {
		t.Errorf("message 3 was delivered %d times; the test has missed the gap", times)
	}
	o.checkReceived("one", "two", "three", "four", "five")
}

func killedRelay(t *testing.T, database string) {
	o := newOffice(t, database)
	token := o.holdFirst("outbox-2", func() { o.write("one", "two", "three") })
	o.leader(token).Kill()
	close(o.wire.free)
	o.awaitRelayed()
	o.checkReceived("one", "two", "three")
}

// onlyTheFenceIsLeft to stop a relay whose clocks stood still, as those of a virtual machine that is woken from a
// snapshot do: it believes to lead, and is about to mark a message that another one has yet to relay.
func onlyTheFenceIsLeft(t *testing.T, database string) {
	pool := open(t, database)
	store, err := postgres.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, err = pool.Exec(t.Context(), schema+"; INSERT INTO outbox (payload) VALUES ('one')")
	if err := errors.Join(err, store.Migrate(t.Context())); err != nil {
		t.Fatal(err)
	}
	cut := tenuretest.NewFaulty(store)
	still := func() (mono, wall time.Duration) { return time.Hour, time.Hour }
	deposed := lead(t, cut, tenure.WithTTL(time.Second), tenure.WithClock(still))
	heal := cut.Inject(tenuretest.Freeze())
	defer heal()
	second := lead(t, store, tenure.WithTTL(time.Second))
	if !deposed.Valid() {
		t.Fatal("the deposed relay knows that it is")
	}
	r, m := &relay{pool: pool}, message{id: 1}
	if err := r.mark(t.Context(), deposed, m); !errors.Is(err, tenure.ErrDeposed) {
		t.Errorf("the deposed relay is told %v", err)
	}
	if m, err := r.pending(t.Context()); err != nil || m.id != 1 {
		t.Errorf("message 1 is not pending any more: %v, %v", m, err)
	}
	if err := r.mark(t.Context(), second, m); err != nil {
		t.Errorf("the leader is told %v", err)
	}
}

func lead(t *testing.T, store tenure.Store, options ...tenure.Option) tenure.Term {
	t.Helper()
	c, err := tenure.New(store, "outbox", options...)
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Campaign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // a candidate whose clock stands still never finds its drain over
		_ = c.Stop(ctx)
	})
	return l.Term()
}
