package leaderhttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

// These tests speak through real sockets, since what they are about is a client that keeps a connection waiting. They
// take real time, but do not depend on how much.

// lead returns a candidate that leads.
func lead(t *testing.T, store tenure.Store, id string, options ...tenure.Option) *tenure.Candidate {
	t.Helper()
	c, err := tenure.New(store, name, append(options, tenure.WithID(id))...)
	if err != nil {
		t.Fatal(err)
	}
	if won, err := c.TryAcquire(t.Context()); err != nil || !won {
		t.Fatal(won, err)
	}
	c.Idle() // nothing acts on the answer
	return c
}

// halfSent sends the head of a request and only a part of its body, and reports when the handler waits for the rest.
func halfSent(t *testing.T, server *httptest.Server, entered <-chan struct{}, headers string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\n%sContent-Length: 10\r\n\r\nhalf", headers)
	<-entered
	return conn
}

// A client that stops sending in the middle of a request does not keep the leader from giving up its seat, and with it
// from ever standing again.
func TestGateCutsClientsThatStall(t *testing.T) {
	for what, stall := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"in sending": func(_ http.ResponseWriter, r *http.Request) error {
			_, err := io.ReadAll(r.Body)
			return err
		},
		"in reading": func(w http.ResponseWriter, _ *http.Request) error {
			for {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return err
				}
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			store := memory.New()
			defer store.Close()
			c := lead(t, store, "a")
			entered, result := make(chan struct{}), make(chan error, 1)
			server := httptest.NewServer(gate(t, c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(entered)
				result <- stall(w, r)
			}), leaderhttp.WithGrace(50*time.Millisecond)))
			defer server.Close()
			conn := halfSent(t, server, entered, "")
			if err := c.Stop(context.Background()); err != nil {
				t.Errorf("Stop: %v", err) // ErrOverran
			}
			select {
			case err := <-result:
				if err == nil {
					t.Error("the handler got a whole request")
				}
			default:
				t.Error("the handler still waits for its client")
			}
			conn.Close()
		})
	}
}

// A connection that was cut serves no further request: it would be carried out, and its answer lost.
func TestGateClosesWhatItCut(t *testing.T) {
	store := memory.New()
	defer store.Close()
	c := lead(t, store, "a")
	var served atomic.Int32
	entered, cut := make(chan struct{}, 2), make(chan struct{})
	handler := gate(t, c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		w.Header().Set("Content-Length", "2")
		fmt.Fprint(w, "ok")
		_ = http.NewResponseController(w).Flush() // all of the answer
		entered <- struct{}{}
		<-r.Context().Done()
		<-cut
	}), leaderhttp.WithGrace(0))
	requests := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- struct{}{}
		handler.ServeHTTP(cutReporter{w, cut}, r)
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answers, err := io.ReadAll(conn) // until the server closes it
	if n := strings.Count(string(answers), "200 OK"); n != 1 || len(requests) != 1 {
		t.Errorf("%d answers to %d requests, %v:\n%s", n, len(requests), err, answers)
	}
}

// cutReporter is a writer that tells when its connection was cut.
type cutReporter struct {
	http.ResponseWriter
	cut chan struct{}
}

func (c cutReporter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c cutReporter) SetWriteDeadline(at time.Time) error {
	defer close(c.cut)
	return http.NewResponseController(c.ResponseWriter).SetWriteDeadline(at)
}

// A request of a deposed leader that is stuck in the middle of being sent does not keep out the new leader.
func TestGuardCutsClientsThatStall(t *testing.T) {
	entered := make(chan struct{})
	server := httptest.NewServer(guard(t, &leaderhttp.MemoryMark{}, func(_ http.ResponseWriter, r *http.Request) {
		if token, _ := leaderhttp.GuardedToken(r.Context()); token == 5 {
			close(entered)
			io.Copy(io.Discard, r.Body)
		}
	}, leaderhttp.WithPatience(time.Minute)))
	defer server.Close()
	conn := halfSent(t, server, entered,
		leaderhttp.HeaderElection+": "+name+"\r\n"+leaderhttp.HeaderToken+": 5\r\n")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(leaderhttp.HeaderElection, name)
	r.Header.Set(leaderhttp.HeaderToken, "6")
	if status, err := do(http.DefaultTransport, r); err != nil || status != http.StatusOK {
		t.Fatalf("the new leader got %v, %v", status, err)
	}
	if answer, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
		t.Errorf("the stale request was answered: %q", answer)
	}
}

// What a handler says within its grace reaches the client, and the connection serves the next request.
func TestGateLeavesTheGraceToHandlers(t *testing.T) {
	store := memory.New()
	defer store.Close()
	c := lead(t, store, "a")
	entered := make(chan struct{}, 1)
	server := httptest.NewServer(gate(t, c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-r.Context().Done()
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, context.Cause(r.Context()))
	}), leaderhttp.WithGrace(time.Minute)))
	defer server.Close()
	go func() {
		<-entered
		_ = c.Resign(context.Background())
	}()
	for _, want := range []string{"409 " + tenure.ErrResigned.Error(), "503 "} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body))); !strings.HasPrefix(got, want) || err != nil {
			t.Errorf("answered %q, %v; want %q", got, err, want)
		}
	}
}

// What ends for another reason than the term is not ours to cut.
func TestGateLeavesOtherEndsAlone(t *testing.T) {
	store := memory.New()
	defer store.Close()
	c := lead(t, store, "a")
	g := gate(t, c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		time.Sleep(20 * time.Millisecond) // for a cut to come, which would be at once
		w.WriteHeader(http.StatusRequestTimeout)
	}), leaderhttp.WithGrace(0))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Millisecond)
		defer cancel()
		g.ServeHTTP(w, r.WithContext(ctx))
	}))
	defer server.Close()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if status, err := do(http.DefaultTransport, r); err != nil || status != http.StatusRequestTimeout {
		t.Errorf("%v %v", status, err)
	}
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// Through real servers and the proxy that a gate makes by itself: streams arrive piece by piece, and a client follows
// the leader wherever it asks.
func TestGatePassesStreamsOn(t *testing.T) {
	store := memory.New()
	defer store.Close()
	follower := httptest.NewUnstartedServer(nil)
	defer follower.Close()
	next := make(chan struct{})
	leader := httptest.NewUnstartedServer(nil)
	defer leader.Close()
	c := lead(t, store, "a", tenure.WithAddress(leader.Listener.Addr().String()))
	leader.Config.Handler = gate(t, c, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n", i)
			_ = http.NewResponseController(w).Flush()
			<-next
		}
	}))
	leader.Start()
	other, err := tenure.New(store, name, tenure.WithID("b"))
	if err != nil {
		t.Fatal(err)
	}
	if won, err := other.TryAcquire(t.Context()); won || err != nil { // one look: it knows the leader now
		t.Fatal(won, err)
	}
	follower.Config.Handler = gate(t, other, nil, leaderhttp.WithProxy(nil))
	follower.Start()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, follower.URL, http.NoBody)
	resp, err := follower.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for i := range 3 {
		if !lines.Scan() || lines.Text() != fmt.Sprintf("data: %d", i) {
			t.Fatalf("line %d is %q, %v", i, lines.Text(), lines.Err())
		}
		next <- struct{}{}
	}
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func BenchmarkGate(b *testing.B) {
	for what, options := range map[string][]leaderhttp.GateOption{"leader": nil, "follower": nil} {
		b.Run(what, func(b *testing.B) {
			store := memory.New()
			defer store.Close()
			one, _ := tenure.New(store, name, tenure.WithID("a"))
			two, _ := tenure.New(store, name, tenure.WithID("b"))
			one.TryAcquire(b.Context())
			two.TryAcquire(b.Context())
			serving := map[string]*tenure.Candidate{"leader": one, "follower": two}[what]
			g, err := leaderhttp.NewGate(serving, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), options...)
			if err != nil {
				b.Fatal(err)
			}
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", http.NoBody)
			b.ReportAllocs()
			for b.Loop() {
				g.ServeHTTP(httptest.NewRecorder(), r)
			}
			one.Idle()
			one.Stop(context.Background())
		})
	}
}
