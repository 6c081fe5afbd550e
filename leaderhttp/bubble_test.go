package leaderhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

// Most tests run real candidates over a memory store in a bubble of testing/synctest, where time is exact. Sockets do
// not work there, so that requests go through a network of handlers.

const (
	ttl  = 10 * time.Second
	name = "billing"
)

func bubble(t *testing.T, test func(t *testing.T, store *memory.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		test(t, store)
		if err := store.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
}

// start has a candidate stand until it is stopped.
func start(t *testing.T, store tenure.Store, id string, options ...tenure.Option) *tenure.Candidate {
	t.Helper()
	options = append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(ttl), tenure.WithAddress(id + ":80")}, options...)
	c, err := tenure.New(store, name, options...)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	if err := c.Start(context.Background()); err != nil {
		t.Fatalf("Start: %v", err)
	}
	synctest.Wait()
	return c
}

func stop(t *testing.T, candidates ...*tenure.Candidate) {
	t.Helper()
	for _, c := range candidates {
		if err := c.Stop(context.Background()); err != nil {
			t.Errorf("Stop of %s: %v", c.ID(), err)
		}
	}
}

// gate makes a gate in front of next, or of one that says who served.
func gate(t *testing.T, c *tenure.Candidate, next http.Handler, options ...leaderhttp.GateOption) *leaderhttp.Gate {
	t.Helper()
	if next == nil {
		next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served by "+c.ID()) })
	}
	g, err := leaderhttp.NewGate(c, next, options...)
	if err != nil {
		t.Fatalf("NewGate: %v", err)
	}
	return g
}

var errUnreachable = errors.New("no such host")

// network is an http.RoundTripper that hands requests to the handlers of its hosts, and counts them. It ends after a
// hundred, or requests that run in circles would never.
type network struct {
	mu    sync.Mutex
	hosts map[string]http.Handler
	calls int
	last  *http.Request
}

func (n *network) add(host string, h http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts == nil {
		n.hosts = map[string]http.Handler{}
	}
	n.hosts[host] = h
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	h := n.hosts[r.URL.Host]
	n.calls++
	n.last = r
	calls := n.calls
	n.mu.Unlock()
	if h == nil || calls > 100 {
		return nil, errUnreachable
	}
	in := r.Clone(r.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	in.RemoteAddr = "192.0.2.9:1234"
	in.URL.Scheme, in.URL.Host = "", "" // as a server sees it
	w := httptest.NewRecorder()
	h.ServeHTTP(w, in)
	return w.Result(), nil
}

// ask sends a GET straight to a handler.
func ask(t *testing.T, h http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func expect(t *testing.T, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if got := strings.TrimSpace(w.Body.String()); w.Code != status || !strings.Contains(got, body) {
		t.Errorf("the answer is %d %q, want %d %q", w.Code, got, status, body)
	}
}

// away is a store that pushes nothing and can be cut off.
type away struct {
	tenure.Store
	mu   sync.Mutex
	down bool
}

func (a *away) cut(down bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = down
}

func (a *away) check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.down {
		return errors.New("the store is away")
	}
	return nil
}

func (a *away) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := a.check(); err != nil {
		return tenure.Snapshot{}, err
	}
	return a.Store.Load(ctx, election)
}

func (a *away) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	if err := a.check(); err != nil {
		return tenure.Snapshot{}, err
	}
	return a.Store.CompareAndSwap(ctx, election, old, r)
}

// do sends a request and returns the status of its answer.
func do(rt http.RoundTripper, r *http.Request) (status int, err error) {
	resp, err := (&http.Client{Transport: rt}).Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
