package httpproxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// origin is a server that repeats what it gets, and notes it.
type origin struct {
	mu       sync.Mutex
	requests []string
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, r.Method+" "+r.Host+r.URL.String()+" "+r.Header.Get("If-Match")+" "+string(body))
	w.Header().Set("ETag", "tag")
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, "echo "+string(body))
}

func (o *origin) seen() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests
}

func start(t *testing.T) (*Proxy, *origin) {
	t.Helper()
	o := &origin{}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	p, err := Listen(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, o
}

type answer struct {
	status int
	header http.Header
	body   string
}

func put(ctx context.Context, p *Proxy, path, body string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.URL()+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("If-Match", "old")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text)}, err
}

func mustPut(t *testing.T, p *Proxy, path, body string) answer {
	t.Helper()
	got, err := put(t.Context(), p, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestForwards(t *testing.T) {
	p, o := start(t)
	got := mustPut(t, p, "/a%2Fb?x=%2F", "hello")
	if got.status != http.StatusAccepted || got.header.Get("ETag") != "tag" || got.body != "echo hello" {
		t.Errorf("got %+v", got)
	}
	if want := "PUT " + p.Addr() + "/a%2Fb?x=%2F old hello"; len(o.seen()) != 1 || o.seen()[0] != want {
		t.Errorf("the server saw %q, want %q", o.seen(), want)
	}
	if p.Count("PUT") != 1 || p.Count("GET") != 0 || p.Count("") != 1 {
		t.Errorf("counted %d, %d, %d", p.Count("PUT"), p.Count("GET"), p.Count(""))
	}
}

func TestFaultsAreNarrowed(t *testing.T) {
	p, _ := start(t)
	in := p.Inject(Answer(http.StatusTeapot, nil, "").On(http.MethodPut, "kettle").Times(2))
	for i, want := range []int{http.StatusTeapot, http.StatusTeapot, http.StatusAccepted} {
		if got := mustPut(t, p, "/other", ""); got.status != http.StatusAccepted {
			t.Errorf("another path: %+v", got)
		}
		if got := mustPut(t, p, "/kettle/1", ""); got.status != want {
			t.Errorf("request %d: %+v, want %d", i, got, want)
		}
	}
	<-in.Met()
	in = p.Inject(Answer(http.StatusTeapot, nil, "").On(http.MethodGet, ""))
	if got := mustPut(t, p, "/kettle", ""); got.status != http.StatusAccepted {
		t.Errorf("another method: %+v", got)
	}
	in.Heal()
	in.Heal()
}

func TestHealEndsAFault(t *testing.T) {
	p, _ := start(t)
	in := p.Inject(Throttle(http.StatusServiceUnavailable, 3*time.Second, "<Code>SlowDown</Code>"))
	if got := mustPut(t, p, "/", ""); got.status != 503 || got.header.Get("Retry-After") != "3" || got.body == "" {
		t.Errorf("got %+v", got)
	}
	in.Heal()
	if got := mustPut(t, p, "/", ""); got.status != http.StatusAccepted {
		t.Errorf("after healing: %+v", got)
	}
}

func TestLostRepliesAndRequests(t *testing.T) {
	p, o := start(t)
	p.Inject(LoseReply().Times(1))
	if got, err := put(t.Context(), p, "/1", ""); err == nil {
		t.Errorf("a lost reply: %+v", got)
	}
	if len(o.seen()) != 1 {
		t.Errorf("the server saw %q", o.seen())
	}
	p.Inject(LoseRequest().Times(1))
	if got, err := put(t.Context(), p, "/2", ""); err == nil {
		t.Errorf("a lost request: %+v", got)
	}
	if len(o.seen()) != 1 {
		t.Errorf("the server saw %q", o.seen())
	}
}

func TestChangedOnTheWay(t *testing.T) {
	p, o := start(t)
	p.Inject(Strip("If-Match").On("", "strip"))
	p.Inject(Repeat().On("", "repeat"))
	p.Inject(Misreport(http.StatusBadGateway, nil, "sorry").On("", "misreport"))
	mustPut(t, p, "/strip", "a")
	if got := mustPut(t, p, "/repeat", "b"); got.body != "echo b" {
		t.Errorf("repeated: %+v", got)
	}
	if got := mustPut(t, p, "/misreport", "c"); got.status != http.StatusBadGateway || got.body != "sorry" {
		t.Errorf("misreported: %+v", got)
	}
	at := "PUT " + p.Addr()
	want := []string{at + "/strip  a", at + "/repeat old b", at + "/repeat old b", at + "/misreport old c"}
	if got := o.seen(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server saw %q, want %q", got, want)
	}
}

func TestHang(t *testing.T) {
	p, o := start(t)
	in := p.Inject(Hang())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-in.Met()
		cancel()
	}()
	if _, err := put(ctx, p, "/", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	failed := make(chan error)
	go func() {
		_, err := put(t.Context(), p, "/", "x")
		failed <- err
	}()
	for p.Count("") < 2 {
		time.Sleep(time.Millisecond) // nothing tells that a request has arrived
	}
	in.Heal()
	if err := <-failed; err == nil {
		t.Error("an answer came")
	}
	if len(o.seen()) != 0 {
		t.Errorf("the server saw %q", o.seen())
	}
}

func TestServerAway(t *testing.T) {
	p, err := Listen("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, err := put(t.Context(), p, "/", ""); err == nil {
		t.Errorf("got %+v", got)
	}
}
