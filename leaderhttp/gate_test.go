package leaderhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

func TestGateServesOnTheLeaderOnly(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		ga, gb := gate(t, a, nil), gate(t, b, nil, leaderhttp.WithRetryAfter(3*time.Second))
		expect(t, ask(t, ga, "/"), 200, "served by a")
		w := ask(t, gb, "/")
		expect(t, w, 503, "this server does not lead")
		if w.Header().Get("Retry-After") != "3" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("headers %v", w.Header())
		}
		if err := a.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		expect(t, ask(t, ga, "/"), 503, "this server does not lead")
		expect(t, ask(t, gb, "/"), 200, "served by b")
		stop(t, a, b)
		expect(t, ask(t, gb, "/"), 503, "")
	})
}

// The decision is taken by the clock at the moment of serving, not by when somebody noticed: the clock jumps as in a
// suspension, and no timer of the candidate has run.
func TestGateReadsTheClock(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		origin, jump := time.Now(), atomic.Int64{}
		clock := func() (mono, wall time.Duration) {
			return time.Since(origin), time.Since(origin) + time.Duration(jump.Load())
		}
		a := start(t, store, "a", tenure.WithClock(clock))
		g := gate(t, a, nil)
		expect(t, ask(t, g, "/"), 200, "served by a")
		jump.Store(int64(ttl))
		expect(t, ask(t, g, "/"), 503, "the term of this leader is over")
		stop(t, a)
	})
}

// The request's context ends with the term, and says why.
func TestGateEndsRequestsWithTheTerm(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(t *testing.T, c *tenure.Candidate, store *away)
		want error
	}{
		{"resigned", func(_ *testing.T, c *tenure.Candidate, _ *away) { go c.Resign(context.Background()) }, tenure.ErrResigned},
		{"stopped", func(_ *testing.T, c *tenure.Candidate, _ *away) { go c.Stop(context.Background()) }, tenure.ErrStopped},
		{"cut off", func(_ *testing.T, _ *tenure.Candidate, s *away) { s.cut(true) }, tenure.ErrLeaseExpired},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, inner *memory.Store) {
				store := &away{Store: inner}
				a := start(t, store, "a")
				cause, after := make(chan error, 1), make(chan bool, 1)
				g := gate(t, a, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					cause <- context.Cause(r.Context())
					term, ok := leaderhttp.Term(r.Context())
					after <- ok && term.Valid()
				}))
				go g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
				synctest.Wait()
				c.end(t, a, store)
				if got := <-cause; !errors.Is(got, c.want) {
					t.Errorf("the request ended with %v, want %v", got, c.want)
				}
				if <-after {
					t.Error("a request still has a term after its end")
				}
				store.cut(false)
				stop(t, a)
			})
		})
	}
}

// The seat is not given up before the handler has returned.
func TestGateHoldsTheSeatWhileItServes(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		g := gate(t, a, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			time.Sleep(time.Second)
			if b.IsLeader() {
				t.Error("another leads while a request is served")
			}
		}))
		go ask(t, g, "/")
		synctest.Wait()
		if err := a.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !b.IsLeader() {
			t.Error("nobody leads after the request")
		}
		stop(t, a, b)
	})
}

// A request that was served long ago does not cost the drain.
func TestGateHandsNothingOut(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a")
		g := gate(t, a, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if term, ok := leaderhttp.Term(r.Context()); !ok || term.Token != 1 || !term.Valid() {
				t.Errorf("term %+v %v", term, ok)
			}
		}))
		probes, err := leaderhttp.NewProbes(a)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, ask(t, g, "/"), 200, "")
		expect(t, ask(t, probes, "/leader"), 200, "leader")
		begun := time.Now()
		stop(t, a)
		if took := time.Since(begun); took != 0 {
			t.Errorf("giving up the seat took %v", took)
		}
	})
}

func TestGateMisdirected(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		g := gate(t, b, nil, leaderhttp.WithMisdirected())
		expect(t, ask(t, g, "/"), 421, "this server does not lead")
		if _, err := tenure.SetPause(context.Background(), store, name, tenure.Pause{By: "test"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		expect(t, ask(t, g, "/"), 503, "there is no leader at present")
		stop(t, a, b)
	})
}

func TestGateRedirects(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a", tenure.WithAddress("https://lead.example/base/"))
		b := start(t, store, "b")
		g := gate(t, b, nil, leaderhttp.WithRedirect(308))
		w := ask(t, g, "/x%2Fy/../z?q=1&q=%zz")
		want := "https://lead.example/base/x%2Fy/../z?q=1&q=%zz&tenure-hop=billing%3A1"
		if got := w.Header().Get("Location"); w.Code != 308 || got != want || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d to %q, want %q; %v", w.Code, got, want, w.Header())
		}
		w = ask(t, g, "//evil.example/")
		if got := w.Header().Get("Location"); !strings.HasPrefix(got, "https://lead.example/base//evil.example/?") {
			t.Errorf("a path leads to another host: %q", got)
		}
		stop(t, a, b)
	})
}

// What the client sent arrives at the leader as the client sent it, and the answer comes back.
func TestGatePassesOn(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		var seen *http.Request
		var body string
		n := &network{}
		n.add("a:80", gate(t, a, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			seen, body = r, string(text)
			w.Header().Set("X-From", "a")
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, "short and stout")
		})))
		g := gate(t, b, nil, leaderhttp.WithProxy(n))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://shop.example/a%2Fb?x=1;y&x=%zz",
			strings.NewReader("the body"))
		r.RemoteAddr = "203.0.113.5:999"
		r.Header.Set("X-Forwarded-For", "198.51.100.1")
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("Connection", "Tenure-Hop, X-Private")
		r.Header.Set("X-Private", "yes")
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		expect(t, w, 418, "short and stout")
		if w.Header().Get("X-From") != "a" || w.Header().Get("Cache-Control") != "" {
			t.Errorf("answer headers %v", w.Header())
		}
		if seen == nil || seen.Method != http.MethodPost || body != "the body" || seen.Host != "shop.example" ||
			seen.URL.EscapedPath() != "/a%2Fb" || seen.URL.RawQuery != "x=1;y&x=%zz" {
			t.Fatalf("the leader saw %+v with body %q", seen, body)
		}
		for header, want := range map[string]string{
			"X-Forwarded-For": "198.51.100.1, 203.0.113.5", "X-Forwarded-Proto": "https",
			"X-Forwarded-Host": "shop.example", "X-Private": "", leaderhttp.HeaderHop: "",
		} {
			if got := seen.Header.Get(header); got != want {
				t.Errorf("the leader saw %s %q, want %q", header, got, want)
			}
		}
		if got := n.last.Header.Get(leaderhttp.HeaderHop); got != "billing:1" {
			t.Errorf("the hop was noted as %q", got)
		}
		stop(t, a, b)
	})
}

func TestGateTellsNoSecretsWhenTheLeaderIsUnreachable(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		var log bytes.Buffer
		g := gate(t, b, nil, leaderhttp.WithProxy(&network{}), leaderhttp.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		w := ask(t, g, "/")
		expect(t, w, 502, "the leader did not answer")
		if strings.Contains(w.Body.String(), errUnreachable.Error()) || !strings.Contains(log.String(), errUnreachable.Error()) {
			t.Errorf("answer %q, log %q", w.Body, &log)
		}
		stop(t, a, b)
	})
}

type slow struct{}

func (slow) RoundTrip(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }

func TestGateTellsATimeout(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		expect(t, ask(t, gate(t, b, nil, leaderhttp.WithProxy(slow{})), "/"), 504, "the leader did not answer")
		stop(t, a, b)
	})
}

// frozen returns a candidate that believes in the leader of its record, and hears no more.
func frozen(t *testing.T, id, leader, address string, token uint64) (*tenure.Candidate, func()) {
	t.Helper()
	private := memory.New()
	record := tenure.Record{Token: token, Leader: leader, Session: "s-" + leader, TTL: ttl, Address: address}
	if _, err := private.CompareAndSwap(context.Background(), name, "", record); err != nil {
		t.Fatal(err)
	}
	c := start(t, private, id)
	return c, func() {
		stop(t, c)
		private.Close()
	}
}

// Two processes that each believe the other to lead do not bounce a request for ever, whether they pass it on or
// redirect it, and whichever of them knows the newer term.
func TestGateNeverLoops(t *testing.T) {
	for _, tokens := range [][2]uint64{{4, 5}, {5, 4}, {7, 7}} {
		bubble(t, func(t *testing.T, _ *memory.Store) {
			a, doneA := frozen(t, "a", "b", "b:80", tokens[0])
			b, doneB := frozen(t, "b", "a", "a:80", tokens[1])
			n := &network{}
			n.add("a:80", gate(t, a, nil, leaderhttp.WithProxy(n)))
			n.add("b:80", gate(t, b, nil, leaderhttp.WithProxy(n)))
			for _, first := range []string{"a:80", "b:80"} {
				n.calls = 0
				expect(t, ask(t, n.hosts[first], "/"), 503, "was passed on before")
				if n.calls > 2 {
					t.Errorf("tokens %v: a request was passed on %d times", tokens, n.calls)
				}
			}
			n.add("a:80", gate(t, a, nil, leaderhttp.WithRedirect(307)))
			n.add("b:80", gate(t, b, nil, leaderhttp.WithRedirect(307)))
			n.calls = 0
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a:80/x?y=1", http.NoBody)
			if status, err := do(n, r); err != nil || status != http.StatusServiceUnavailable || n.calls > 3 {
				t.Errorf("tokens %v: redirected %d times: %v %v", tokens, n.calls-1, status, err)
			}
			doneA()
			doneB()
		})
	}
}

// A process that was restarted, and finds its own address in the record of its last life, asks itself once at most.
func TestGateDoesNotPassOnToItself(t *testing.T) {
	bubble(t, func(t *testing.T, _ *memory.Store) {
		a, done := frozen(t, "a", "a", "a:80", 3)
		n := &network{}
		n.add("a:80", gate(t, a, nil, leaderhttp.WithProxy(n)))
		expect(t, ask(t, n.hosts["a:80"], "/"), 503, "was passed on before")
		if n.calls != 1 {
			t.Errorf("it asked itself %d times", n.calls)
		}
		done()
	})
}

// Gates of two elections, one behind the other: each heeds its own notes, so that no request is refused for the
// tokens of another election, and none runs in circles.
func TestGatesOfSeveralElections(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a")
		other, err := tenure.New(store, "other", tenure.WithID("a"))
		if err != nil {
			t.Fatal(err)
		}
		won, err := other.TryAcquire(context.Background())
		if !won || err != nil {
			t.Fatal(won, err)
		}
		var seen *http.Request
		g := gate(t, a, gate(t, other, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })))
		expect(t, ask(t, g, "/?tenure-hop=third%3A9&z", leaderhttp.HeaderHop, "billing:5, other:9",
			leaderhttp.HeaderHop, "third:2"), 200, "")
		if seen == nil || strings.Join(seen.Header.Values(leaderhttp.HeaderHop), ";") != "third:2" ||
			seen.URL.RawQuery != "tenure-hop=third%3A9&z" {
			t.Errorf("the handler saw %+v", seen)
		}
		stop(t, a, other)
	})
}

func TestGateRefusesMalformedNotes(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a")
		g := gate(t, a, nil)
		for _, note := range []string{"", "billing", "billing:", "billing:0", "billing:-1", "billing:1e3", "billing:01", ":1", "%zz:1", "a%00:1", "billing:9007199254740992"} {
			expect(t, ask(t, g, "/", leaderhttp.HeaderHop, note), 400, "malformed")
			expect(t, ask(t, g, "/?tenure-hop="+url.QueryEscape(note)), 400, "malformed")
		}
		expect(t, ask(t, g, "/?tenure-hop=%zz"), 400, "malformed")
		expect(t, ask(t, g, "/?tenure-hop=billing%3A1"), 200, "served by a")
		stop(t, a)
	})
}

// Nobody is sent to a leader that is silent, that advertises nothing, or nothing of use.
func TestGateKnowsWhereNotToSend(t *testing.T) {
	for address, want := range map[string]string{
		"": "has no address", "ftp://a": "has no address", "http://user:pass@a": "has no address", "http://a?x=1": "has no address",
		"http://": "has no address", "http://a\nb": "has no address", "a:80": "",
	} {
		bubble(t, func(t *testing.T, _ *memory.Store) {
			b, done := frozen(t, "b", "a", address, 3)
			g := gate(t, b, nil, leaderhttp.WithRedirect(307))
			if want == "" {
				expect(t, ask(t, g, "/"), 307, "")
			} else {
				expect(t, ask(t, g, "/"), 503, want)
			}
			done()
		})
	}
	bubble(t, func(t *testing.T, inner *memory.Store) {
		a := start(t, inner, "a")
		store := &away{Store: inner}
		b := start(t, store, "b")
		g := gate(t, b, nil, leaderhttp.WithRedirect(307))
		expect(t, ask(t, g, "/"), 307, "")
		store.cut(true)
		time.Sleep(ttl + time.Second)
		expect(t, ask(t, g, "/"), 503, "the leader was not heard of in time")
		store.cut(false)
		stop(t, a, b)
	})
}

func TestGateSendsOnlyPathsOn(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		g := gate(t, b, nil, leaderhttp.WithRedirect(307))
		for _, r := range []*http.Request{
			{Method: http.MethodOptions, URL: &url.URL{Path: "*"}, Header: http.Header{}},
			{Method: http.MethodConnect, URL: &url.URL{Host: "x:1"}, Header: http.Header{}},
		} {
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			expect(t, w, 503, "cannot be sent on")
		}
		stop(t, a, b)
	})
}

func TestGateWithLeaderURL(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a", tenure.WithMetadata(map[string]string{"web": "http://web-a"}))
		b := start(t, store, "b")
		find := func(r tenure.Record) (*url.URL, error) { return url.Parse(r.Metadata["web"]) }
		g := gate(t, b, nil, leaderhttp.WithRedirect(307), leaderhttp.WithLeaderURL(find))
		if got := ask(t, g, "/x").Header().Get("Location"); got != "http://web-a/x?tenure-hop=billing%3A1" {
			t.Errorf("redirected to %q", got)
		}
		nowhere := func(tenure.Record) (*url.URL, error) { return nil, nil } // careless
		g = gate(t, b, nil, leaderhttp.WithRedirect(307), leaderhttp.WithLeaderURL(nowhere))
		expect(t, ask(t, g, "/"), 503, "has no address")
		g = gate(t, b, nil, leaderhttp.WithRedirect(307), leaderhttp.WithScheme("https"))
		if got := ask(t, g, "/x").Header().Get("Location"); got != "https://a:80/x?tenure-hop=billing%3A1" {
			t.Errorf("redirected to %q", got)
		}
		stop(t, a, b)
	})
}

// A panic of a handler goes on to the server, and the request no longer counts as work.
func TestGateLetsPanicsThrough(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a")
		g := gate(t, a, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("handler") }))
		func() {
			defer func() {
				if p := recover(); p != "handler" {
					t.Errorf("recovered %v", p)
				}
			}()
			ask(t, g, "/")
		}()
		stop(t, a) // would report an overrun
	})
}

func TestGateRefusesConfiguration(t *testing.T) {
	c, err := tenure.New(memory.New(), name)
	if err != nil {
		t.Fatal(err)
	}
	h := http.NotFoundHandler()
	for what, options := range map[string][]leaderhttp.GateOption{
		"two ways":        {leaderhttp.WithMisdirected(), leaderhttp.WithProxy(nil)},
		"a see other":     {leaderhttp.WithRedirect(303)},
		"no wait":         {leaderhttp.WithRetryAfter(0)},
		"half a second":   {leaderhttp.WithRetryAfter(1500 * time.Millisecond)},
		"two hours":       {leaderhttp.WithRetryAfter(2 * time.Hour)},
		"a negative time": {leaderhttp.WithGrace(-1)},
		"ftp":             {leaderhttp.WithScheme("ftp")},
	} {
		if _, err := leaderhttp.NewGate(c, h, options...); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := leaderhttp.NewGate(nil, h); !errors.Is(err, tenure.ErrConfig) {
		t.Error(err)
	}
	if _, err := leaderhttp.NewGate(c, nil); !errors.Is(err, tenure.ErrConfig) {
		t.Error(err)
	}
	if _, err := leaderhttp.NewGate(c, h, nil, leaderhttp.WithGrace(0)); err != nil {
		t.Error(err)
	}
}
