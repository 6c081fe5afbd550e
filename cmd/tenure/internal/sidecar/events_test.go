package sidecar

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

func TestChangesAreStreamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, long)
	d.await("open", "seen", func(v view) bool { return v.State == "missing" })
	l := d.stream(d.request(http.MethodGet, "/v1/elections/open/events", "", lines))
	if e := l.await("first"); e.Election != "open" || e.Token != 0 {
		t.Errorf("got %+v", e)
	}
	a := d.campaign(`{"id": "a"}`)
	if e := l.await("elected"); e.Leader != "a" || e.Token != 1 || e.Reason != "because" {
		t.Errorf("got %+v", e)
	}
	a.await("elected") // a campaign whose term ends before it is told of it is not told of the end either
	d.must("/v1/elections/open/pause", `{"by": "ann", "reason": "moving house"}`)
	l.await("paused")
	a.await("ended")
	_ = a.body.Close()
	l.await("released")
	l.await("heartbeat")
	if v := d.show("open"); v.State != "paused" || v.Pause.Reason != "moving house" || !strings.HasPrefix(v.Pause.By, "ann (127.0.0.1:") {
		t.Errorf("got %+v", v)
	}
	d.must("/v1/elections/open/resume", "")
	l.await("resumed")
}

// TestServerSentEvents, which are the usual form of changes and can be had of campaigns.
func TestServerSentEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for _, r := range []*http.Request{
		d.request("GET", "/v1/elections/open/events", "", nil),
		d.request("POST", "/v1/elections/open/campaign", "", func(r *http.Request) {
			r.Header.Set("Accept", "text/html, text/event-stream;q=0.9")
		}),
	} {
		response, err := d.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		scanner := bufio.NewScanner(response.Body)
		var text []string
		for len(text) < 3 && scanner.Scan() {
			text = append(text, scanner.Text())
		}
		_ = response.Body.Close()
		if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Errorf("%s: the type is %q", r.URL, kind)
		}
		event, _ := strings.CutPrefix(text[0], "event: ")
		if len(text) != 3 || event == "" || !strings.HasPrefix(text[1], `data: {"event":"`+event+`"`) || text[2] != "" {
			t.Errorf("%s: got %q", r.URL, text)
		}
	}
}

func TestOwnCandidate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.Elections = o.Elections[:1] })
	v := d.await("own", "led", func(v view) bool { return v.Leading })
	if v.Leader != "side" || v.Token != 1 || v.Milliseconds <= 0 || v.Address != "here:80" || v.State != "held" {
		t.Errorf("got %+v", v)
	}
	for _, path := range []string{"/", "/leader", "/leader?election=own"} {
		if status, text := d.get(path); status != http.StatusOK || text != `{"name":"side"}`+"\n" {
			t.Errorf("%s: got %d %q", path, status, text)
		}
	}
	d.must("/v1/elections/own/pause", "")
	d.await("own", "paused", func(v view) bool { return v.State == "paused" && !v.Leading && v.Milliseconds == 0 })
	if _, text := d.get("/"); text != `{"name":""}`+"\n" {
		t.Errorf("got %q while nobody leads", text)
	}
}

// TestLeaderIsNotTakenFromTheRecordAlone: what a candidate of ours has written proves nothing once it is out of trust.
func TestLeaderIsNotTakenFromTheRecordAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	a := d.campaign(`{"id": "a"}`)
	a.await("elected")
	e := d.sidecar.elections["open"]
	d.await("open", "seen", func(v view) bool { return v.Leader == "a" })
	now, _, _, _ := e.look()
	c, _ := e.campaign(a.first.Campaign)
	if got, _ := d.sidecar.leader(e); got != "a" {
		t.Fatalf("got %q", got)
	}
	_ = c.candidate.Stop(t.Context()) // overruns, so that the record stays
	e.enter(c)                        // in case that it has left by now
	e.take(now, nil)                  // as an observer sees it that was asleep
	if got, _ := d.sidecar.leader(e); got != "" {
		t.Errorf("got %q, which does not lead", got)
	}
}

// TestLeaderIsNotAnEarlierProcessOfTheName: a sidecar that is started anew finds its own name in the record, until the
// lease has run out, and does not lead.
func TestLeaderIsNotAnEarlierProcessOfTheName(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) {
		o.Elections = o.Elections[:1]
		before := tenure.Record{Token: 1, Leader: "side", Session: "of the one before", TTL: time.Hour}
		if _, err := o.Store.CompareAndSwap(t.Context(), "own", "", before); err != nil {
			t.Fatal(err)
		}
	})
	d.await("own", "seen", func(v view) bool { return v.Token == 1 })
	if status, text := d.get("/"); status != http.StatusOK || text != `{"name":""}`+"\n" {
		t.Errorf("got %d %q of a sidecar that does not lead", status, text)
	}
}

func TestStoreFailures(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	d := newDesk(t, func(o *Options) { o.Store, o.StoreTimeout = broken{o.Store, &fails}, 50*time.Millisecond })
	l := d.stream(d.request(http.MethodGet, "/v1/elections/open/events", "", lines))
	a := d.campaign("")
	a.await("elected")
	fails.Store(true)
	if e := l.await("store-failed"); !strings.Contains(e.Error, "out of order") {
		t.Errorf("got %+v", e)
	}
	if e := a.await("store-failed"); e.Token != 1 || !strings.Contains(e.Error, "out of order") {
		t.Errorf("got %+v", e)
	}
	if e := a.await("ended"); e.Cause != "lease-expired" {
		t.Errorf("got %+v", e)
	}
	if status, text := d.post("/v1/elections/open/pause", ""); status != http.StatusGatewayTimeout {
		t.Errorf("got %d %s", status, text)
	}
	if !d.log.HasLine(`action="pause refused"`) {
		t.Error("nothing was logged")
	}
}

// TestStoreThatWasNeverReached: nobody is said to lead, nor not to.
func TestStoreThatWasNeverReached(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	fails.Store(true)
	d := newDesk(t, func(o *Options) { o.Store = broken{o.Store, &fails} })
	v := d.await("open", "a failure", func(v view) bool { return v.Error != "" })
	if v.State != "unknown" || !strings.Contains(v.Error, "out of order") {
		t.Errorf("got %+v", v)
	}
	if status, text := d.get("/leader?election=open"); status != http.StatusServiceUnavailable {
		t.Errorf("got %d %s", status, text)
	}
	l := d.stream(d.request(http.MethodGet, "/v1/elections/open/events", "", lines))
	if e := l.await("first"); !strings.Contains(e.Error, "out of order") {
		t.Errorf("got %+v", e)
	}
	fails.Store(false)
	l.await("first")
	if v := d.show("open"); v.State != "missing" || v.Error != "" {
		t.Errorf("got %+v", v)
	}
}

// broken is a store that fails at times, and has nothing but what it must.
type broken struct {
	tenure.Store
	fails *atomic.Bool
}

func (b broken) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if b.fails.Load() {
		return tenure.Snapshot{}, errors.New("out of order")
	}
	return b.Store.Load(ctx, election)
}

func (b broken) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if b.fails.Load() {
		return tenure.Snapshot{}, errors.New("out of order")
	}
	return b.Store.CompareAndSwap(ctx, election, old, record)
}

// TestStreamsAreBounded: those beyond the bound are refused, and a stream that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.MaxStreams = 2 })
	d.campaign("")
	l := d.stream(d.request(http.MethodGet, "/v1/elections/open/events", "", lines))
	for _, r := range []*http.Request{
		d.request("GET", "/v1/elections/own/events", "", nil), d.request("POST", "/v1/elections/open/campaign", "", nil),
	} {
		if status, text := d.do(r); status != http.StatusServiceUnavailable || !strings.Contains(text, "streams") {
			t.Errorf("got %d %s", status, text)
		}
	}
	if v := d.show("open"); len(v.Candidates) != 1 {
		t.Errorf("got %+v", v.Candidates)
	}
	_ = l.body.Close()
	for end := time.Now().Add(patience); len(d.sidecar.streams) == 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the stream that ended makes no room")
		}
	}
	d.campaign("")
}

func TestHeadOfAStreamEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	if status, _ := d.do(d.request("HEAD", "/v1/elections/open/events", "", nil)); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	if len(d.sidecar.streams) != 0 {
		t.Error("it holds a stream")
	}
}

// TestConnectionsAreBounded: those that ask nothing cannot be as many as they like.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.MaxStreams = 1 })
	for range spare + 1 {
		_ = dial(t, d)
	}
	last := dial(t, d)
	_, _ = last.Write([]byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	_ = last.SetReadDeadline(time.Now().Add(patience))
	if answer, err := io.ReadAll(last); len(answer) > 0 || err != nil && !isReset(err) {
		t.Errorf("one more got %q and %v", answer, err)
	}
}

// TestStreamsOutliveTheTimeouts of other requests.
func TestStreamsOutliveTheTimeouts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.StoreTimeout = time.Millisecond })
	server := d.sidecar.server()
	timeout := max(server.ReadTimeout, server.WriteTimeout) + time.Second
	a := d.campaign("")
	l := d.stream(d.request(http.MethodGet, "/v1/elections/open/events", "", lines))
	a.await("elected")
	time.Sleep(timeout) // which the server takes from the system's clock
	for range len(a.events) {
		<-a.events
	}
	if e := a.await("heartbeat"); !e.Leading || e.Token != 1 {
		t.Errorf("got %+v", e)
	}
	if _, err := tenure.SetPause(t.Context(), d.store, "open", tenure.Pause{}); err != nil {
		t.Fatal(err) // not by the sidecar, whose requests have no time
	}
	l.await("paused")
}

func isReset(err error) bool { return err != nil && strings.Contains(err.Error(), "reset") }

func dial(t *testing.T, d *desk) net.Conn {
	t.Helper()
	conn, err := net.Dial(d.address.Network(), d.address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestSlowHeader: one that never ends is not waited for, and neither is a slow body.
func TestSlowHeader(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
		"POST /v1/elections/open/pause HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
	} {
		conn := dial(t, d)
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if answer, err := io.ReadAll(conn); err != nil && !isReset(err) {
			t.Errorf("got %q and %v", answer, err)
		}
	}
	if r := d.record("open"); r.Pause != nil {
		t.Error("it was obeyed all the same")
	}
}

func TestLargeHeader(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	r := d.request("GET", "/v1/elections", "", func(r *http.Request) { r.Header.Set("X", strings.Repeat("x", 2*maxHeader)) })
	response, err := d.client.Do(r)
	if isReset(err) {
		return // the connection was closed before all of it was sent
	}
	if err != nil {
		t.Fatal(err)
	}
	if _ = response.Body.Close(); response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %s", response.Status)
	}
}

// TestSlowSubscriberIsDropped, so that what is kept for it is bounded.
func TestSlowSubscriberIsDropped(t *testing.T) {
	t.Parallel()
	e := (&Sidecar{options: Options{Describe: describe}}).newElection(Election{Name: "x"}, nil)
	s, _, _ := e.subscribe()
	for range backlog + 1 {
		e.take(tenure.Change{}, nil)
	}
	if len(e.subscribers) != 0 {
		t.Error("it is waited for")
	}
	for range backlog {
		<-s.notices
	}
	if _, ok := <-s.notices; ok {
		t.Error("it got more than is kept")
	}
	e.unsubscribe(s)
}

// TestFlood: a thousand streams that idle, of either kind, take a bounded amount of memory, client included, and
// nothing of it remains.
func TestFlood(t *testing.T) {
	const streams, most = 1000, 128 << 10
	for _, c := range []struct{ name, request string }{
		{"changes", "GET /v1/elections/open/events HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{"campaigns", "POST /v1/elections/open/campaign HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, func(o *Options) {
				long(o)
				o.Heartbeat = 0
			})
			goroutines, before := runtime.NumGoroutine(), inUse()
			flood(t, d, streams, c.request)
			if taken := len(d.sidecar.streams); taken != streams {
				t.Fatalf("%d streams are taken", taken)
			}
			each := (inUse() - before) / streams
			t.Logf("%d bytes and %.1f goroutines a stream", each, float64(runtime.NumGoroutine()-goroutines)/streams)
			if each > most {
				t.Errorf("a stream takes %d bytes, more than %d", each, most)
			}
			if status, text := d.get("/v1/elections/own"); status != http.StatusOK {
				t.Errorf("others get %d %s", status, text)
			}
			if status, _ := d.get("/v1/elections/own/events"); status != http.StatusServiceUnavailable {
				t.Errorf("one more gets %d", status)
			}
		})
	}
}

// flood opens streams and waits until each has said something.
func flood(t *testing.T, d *desk, streams int, request string) {
	t.Helper()
	conns := make([]net.Conn, streams)
	for i := range conns {
		conns[i] = dial(t, d)
		if _, err := conns[i].Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
	}
	want, text := []byte("HTTP/1.1 200 OK"), make([]byte, 15)
	for i, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.ReadFull(conn, text); err != nil || !slices.Equal(text, want) {
			t.Fatalf("stream %d: %q and %v", i, text, err)
		}
	}
}

// inUse is what the process uses now, in heap and stacks.
func inUse() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapInuse + stats.StackInuse)
}

func TestNamesThatNeedEscapes(t *testing.T) {
	t.Parallel()
	const name = "a/b c?%"
	d := newDesk(t, func(o *Options) {
		o.Elections = []Election{{Name: name, Campaign: true, TTL: time.Second, Drain: 200 * time.Millisecond}}
	})
	if v := d.show("a%2Fb%20c%3F%25"); v.Election != name {
		t.Errorf("got %+v", v)
	}
	d.must("/v1/elections/a%2Fb%20c%3F%25/pause", "")
	if r := d.record(name); r.Pause == nil {
		t.Error("it is not paused")
	}
	if status, text := d.get("/leader?election=a%2Fb%20c%3F%25"); status != http.StatusOK {
		t.Errorf("got %d %s", status, text)
	}
}
