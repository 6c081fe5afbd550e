package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

func startProxy(t *testing.T, server *testserver.VersityGW) *httpproxy.Proxy {
	t.Helper()
	proxy, err := httpproxy.Listen(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy
}

// failure is the body of a refusal.
func failure(code string) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>by the test</Message></Error>`, code)
}

func held(token uint64, leader string) tenure.Record {
	return tenure.Record{Token: token, Leader: leader, Session: leader + "-session", TTL: time.Minute}
}

func mustSwap(t *testing.T, s *Store, old tenure.Version, record tenure.Record) tenure.Snapshot {
	t.Helper()
	snapshot, err := s.CompareAndSwap(t.Context(), "e", old, record)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func mustLoad(t *testing.T, s *Store) tenure.Snapshot {
	t.Helper()
	snapshot, err := s.Load(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// outcome names what an error says of a write.
func outcome(err error) string {
	switch {
	case err == nil:
		return "written"
	case errors.Is(err, tenure.ErrConflict):
		return "conflict"
	case errors.Is(err, tenure.ErrNotApplied):
		return "not applied"
	case errors.Is(err, tenure.ErrPermanent):
		return "permanent"
	}
	return "unknown"
}

// What every answer to a write says of it. That a write was carried out while the answer says something else shows
// which answers must leave the outcome open.
func TestAnswersToAWrite(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := startProxy(t, server)
	s := openStore(t, server, proxy.URL())
	current := mustSwap(t, s, "", held(1, "a"))
	wait := http.Header{"Retry-After": {"7"}}
	for name, test := range map[string]struct {
		fault httpproxy.Fault
		want  string
		wait  time.Duration
	}{
		"slow down":          {httpproxy.Answer(503, wait, failure("SlowDown")), "not applied", 7 * time.Second},
		"slow down, no wait": {httpproxy.Answer(503, nil, failure("SlowDown")), "not applied", 0},
		"too many requests":  {httpproxy.Throttle(429, 2*time.Second, ""), "not applied", 2 * time.Second},
		"conflict":           {httpproxy.Answer(409, nil, failure("ConditionalRequestConflict")), "not applied", 0},
		"expired":            {httpproxy.Answer(400, nil, failure("ExpiredToken")), "not applied", 0},
		"expired, as 403":    {httpproxy.Answer(403, nil, failure("ExpiredToken")), "not applied", 0},
		"denied":             {httpproxy.Answer(403, nil, failure("AccessDenied")), "permanent", 0},
		"wrong bucket":       {httpproxy.Answer(404, nil, failure("NoSuchBucket")), "permanent", 0},
		"wrong region":       {httpproxy.Answer(301, nil, failure("PermanentRedirect")), "permanent", 0},
		"no conditions":      {httpproxy.Answer(501, nil, failure("NotImplemented")), "permanent", 0},
		"gone":               {httpproxy.Answer(404, nil, failure("NoSuchKey")), "conflict", 0},
		"lost request":       {httpproxy.LoseRequest(), "unknown", 0},
		"lost reply":         {httpproxy.LoseReply(), "unknown", 0},
		"unavailable":        {httpproxy.Misreport(503, wait, failure("ServiceUnavailable")), "unknown", 0},
		"gateway timeout":    {httpproxy.Misreport(504, nil, "<html>"), "unknown", 0},
		"internal error":     {httpproxy.Misreport(500, nil, failure("InternalError")), "unknown", 0},
		"repeated":           {httpproxy.Repeat(), "conflict", 0},
	} {
		before, puts := current, proxy.Count(http.MethodPut)
		proxy.Inject(test.fault.On(http.MethodPut, "").Times(1))
		_, err := s.CompareAndSwap(t.Context(), "e", current.Version, held(current.Record.Token+1, "a"))
		if outcome(err) != test.want || tenure.RetryAfter(err) != test.wait {
			t.Errorf("%s: %s, wait %v: %v", name, outcome(err), tenure.RetryAfter(err), err)
		}
		if sent := proxy.Count(http.MethodPut) - puts; sent != 1 {
			t.Errorf("%s: the write was sent %d times", name, sent)
		}
		current = mustLoad(t, s)
		if landed := current.Version != before.Version; landed && (test.want == "not applied" || test.want == "permanent") {
			t.Errorf("%s: the write has landed", name)
		}
	}
}

func TestAnswersToARead(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := startProxy(t, server)
	s := openStore(t, server, proxy.URL())
	mustSwap(t, s, "", held(1, "a"))
	for name, test := range map[string]struct {
		fault httpproxy.Fault
		want  string
	}{
		"slow down":    {httpproxy.Throttle(503, 7*time.Second, failure("SlowDown")), "not applied"},
		"denied":       {httpproxy.Answer(403, nil, failure("AccessDenied")), "permanent"},
		"wrong bucket": {httpproxy.Answer(404, nil, failure("NoSuchBucket")), "permanent"},
		"lost":         {httpproxy.LoseReply(), "unknown"},
		"cut short":    {httpproxy.Answer(200, http.Header{"Content-Length": {"1000"}, "ETag": {`"x"`}}, "{"), "unknown"},
		"foreign":      {httpproxy.Answer(200, http.Header{"ETag": {`"x"`}}, "hello"), "permanent"},
	} {
		in := proxy.Inject(test.fault.On(http.MethodGet, "")) // a read may be repeated
		if _, err := s.Load(t.Context(), "e"); outcome(err) != test.want {
			t.Errorf("%s: %s: %v", name, outcome(err), err)
		}
		in.Heal()
	}
	if _, err := s.Load(t.Context(), "e"); err != nil {
		t.Error(err)
	}
}

// Without credentials, or without a server, nothing was sent.
func TestNothingSentIsNotApplied(t *testing.T) {
	server := testserver.StartVersityGW(t)
	lapsed := false
	c := s3.New(s3.Options{
		Region: "us-east-1", UsePathStyle: true, BaseEndpoint: aws.String(server.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			if lapsed {
				return aws.Credentials{}, errors.New("the session has ended")
			}
			return aws.Credentials{AccessKeyID: server.AccessKey, SecretAccessKey: server.SecretKey}, nil
		}),
	})
	s, err := New(c, server.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	current := mustSwap(t, s, "", held(1, "a"))
	lapsed = true
	if _, err := s.CompareAndSwap(t.Context(), "e", current.Version, held(2, "a")); outcome(err) != "not applied" {
		t.Errorf("without credentials: %v", err)
	}
	lapsed = false
	server.Kill()
	// The first attempt may find the connection that has died, of which nobody can know.
	_, _ = s.Load(t.Context(), "e")
	if _, err := s.CompareAndSwap(t.Context(), "e", current.Version, held(2, "a")); outcome(err) != "not applied" {
		t.Errorf("without a server: %v", err)
	}
	server.Start()
	if now := mustLoad(t, s); now.Version != current.Version {
		t.Errorf("after the restart: %+v", now)
	}
}

// A user's client that retries must not do so here: what it would report is that of its last attempt.
func TestRetriesOfTheClientAreOff(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := startProxy(t, server)
	s := openStore(t, server, proxy.URL())
	current := mustSwap(t, s, "", held(1, "a"))
	puts := proxy.Count(http.MethodPut)
	proxy.Inject(httpproxy.LoseReply().On(http.MethodPut, "").Times(1))
	_, err := s.CompareAndSwap(t.Context(), "e", current.Version, held(2, "a"))
	if outcome(err) != "unknown" || proxy.Count(http.MethodPut) != puts+1 {
		t.Errorf("%d writes were sent: %v", proxy.Count(http.MethodPut)-puts, err)
	}
}

// What passes ends no term: a renewal that failed, or that nobody knows of, is followed by one that succeeds.
func TestTermOutlivesWhatPasses(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := startProxy(t, server)
	f := fleet.New(t)
	f.Stand(openStore(t, server, proxy.URL()), "a", fleet.Patient...)
	term := f.Next()
	put := func(fault httpproxy.Fault) httpproxy.Fault { return fault.On(http.MethodPut, "") }
	for _, fault := range []httpproxy.Fault{
		put(httpproxy.LoseReply()), put(httpproxy.LoseRequest()), put(httpproxy.Repeat()),
		put(httpproxy.Answer(409, nil, failure("ConditionalRequestConflict"))),
		put(httpproxy.Answer(503, nil, failure("SlowDown"))),
		put(httpproxy.Misreport(500, nil, failure("InternalError"))),
		httpproxy.Answer(403, nil, failure("ExpiredToken")),
	} {
		<-proxy.Inject(fault.Times(1)).Met()
		renewed(t, proxy)
	}
	server.Kill()
	server.Start()
	renewed(t, proxy)
	if !term.Valid() {
		t.Error("what passes has ended the term")
	}
	f.Check()
}

// A candidate that is throttled comes again when the server said, and not before.
func TestRetryAfterIsObeyed(t *testing.T) {
	server := testserver.StartVersityGW(t)
	proxy := startProxy(t, server)
	f := fleet.New(t)
	const wait = 3 * time.Second // longer than any back-off of its own that comes first
	arrivals := make(chan time.Time, 100)
	in := proxy.Inject(httpproxy.Throttle(503, wait, failure("SlowDown")).When(func(*http.Request) bool {
		arrivals <- time.Now()
		return true
	}))
	f.Stand(openStore(t, server, proxy.URL()), "a", fleet.Patient...)
	first, second := <-arrivals, <-arrivals
	if early := wait - second.Sub(first); early > 0 {
		t.Errorf("the next request came %v early", early)
	}
	in.Heal()
	f.Next()
	f.Check()
}

// renewed waits until some more writes were sent.
func renewed(t *testing.T, proxy *httpproxy.Proxy) {
	t.Helper()
	sent := proxy.Count(http.MethodPut)
	for deadline := time.Now().Add(time.Minute); proxy.Count(http.MethodPut) < sent+3; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was written for a minute") // nothing else tells that it was
		}
	}
}

// Three real candidates through what ends terms, between them and a server that keeps what it has acknowledged.
func TestFleetThroughFaults(t *testing.T) {
	server := testserver.StartVersityGW(t)
	f := fleet.New(t)
	proxies := map[string]*httpproxy.Proxy{}
	for _, id := range []string{"a", "b", "c"} {
		proxies[id] = startProxy(t, server)
		f.Stand(openStore(t, server, proxies[id].URL()), id)
	}
	term := f.Next()
	for _, fault := range []httpproxy.Fault{
		httpproxy.Answer(403, nil, failure("ExpiredToken")),
		httpproxy.Throttle(503, time.Second, failure("SlowDown")),
		httpproxy.Hang(),
	} {
		in := proxies[term.Leader].Inject(fault)
		f.Over(term)
		term = f.Next()
		in.Heal()
	}

	server.Freeze()
	f.Over(term)
	server.Thaw()
	f.Next()
	f.Check()
}

// A server that takes every write is caught before it holds an election.
func TestIgnoringServerIsRefused(t *testing.T) {
	for name, heeded := range map[string]func(*http.Request) bool{
		"all conditions": func(*http.Request) bool { return false },
		"If-Match":       func(r *http.Request) bool { return r.Header.Get("If-Match") == "" },
		"If-None-Match":  func(r *http.Request) bool { return r.Header.Get("If-None-Match") == "" },
	} {
		server := startFake(t, heeded)
		for range 2 {
			s := openStore(t, &testserver.VersityGW{Bucket: "b", AccessKey: "k", SecretKey: "s"}, server.URL)
			_, err := s.CompareAndSwap(t.Context(), "e", "", held(1, "a"))
			if outcome(err) != "permanent" || !strings.Contains(err.Error(), "ignores") {
				t.Errorf("ignoring %s: %v", name, err)
			}
			if _, err := s.Guarantee(t.Context()); outcome(err) != "permanent" {
				t.Errorf("ignoring %s: guarantee: %v", name, err)
			}
		}
		if keys := server.keys(); strings.Contains(strings.Join(keys, " "), "elections/") {
			t.Errorf("ignoring %s: the server holds %q", name, keys)
		}
	}
	s := openStore(t, &testserver.VersityGW{Bucket: "b", AccessKey: "k", SecretKey: "s"},
		startFake(t, func(*http.Request) bool { return true }).URL)
	mustSwap(t, s, mustSwap(t, s, "", held(1, "a")).Version, held(2, "a"))
}
