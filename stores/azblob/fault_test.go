package azblob

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

func startProxy(t *testing.T, server *testserver.Azurite) *httpproxy.Proxy {
	t.Helper()
	proxy, err := httpproxy.Listen(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy
}

// refusal is an answer as the service gives it.
func refusal(status int, code string, header ...string) httpproxy.Fault {
	h := http.Header{"X-Ms-Error-Code": {code}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return httpproxy.Answer(status, h,
		fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>by the test</Message></Error>`, code))
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
	server := testserver.StartAzurite(t)
	proxy := startProxy(t, server)
	s := openStore(t, server, proxy.Addr())
	current := mustSwap(t, s, "", held(1, "a"))
	for name, test := range map[string]struct {
		fault httpproxy.Fault
		want  string
		wait  time.Duration
	}{
		"busy":              {refusal(503, "ServerBusy", "Retry-After", "7"), "not applied", 7 * time.Second},
		"busy, in ms":       {refusal(503, "ServerBusy", "X-Ms-Retry-After-Ms", "70"), "not applied", 70 * time.Millisecond},
		"too many requests": {httpproxy.Throttle(429, 2*time.Second, ""), "not applied", 2 * time.Second},
		"in the way":        {refusal(409, "ContainerBeingDeleted"), "not applied", 0},
		"leased":            {refusal(412, "LeaseIdMissing"), "not applied", 0},
		"expired token":     {refusal(401, "InvalidAuthenticationInfo"), "not applied", 0},
		"expired signature": {refusal(403, "AuthenticationFailed"), "not applied", 0},
		"denied":            {refusal(403, "AuthorizationPermissionMismatch"), "permanent", 0},
		"no account":        {refusal(404, "ResourceNotFound"), "permanent", 0},
		"lost the race":     {refusal(412, "ConditionNotMet"), "conflict", 0},
		"there already":     {refusal(409, "BlobAlreadyExists"), "conflict", 0},
		"lost request":      {httpproxy.LoseRequest(), "unknown", 0},
		"lost reply":        {httpproxy.LoseReply(), "unknown", 0},
		"timed out":         {httpproxy.Misreport(500, http.Header{"X-Ms-Error-Code": {"OperationTimedOut"}}, ""), "unknown", 0},
		"gateway timeout":   {httpproxy.Misreport(504, nil, "<html>"), "unknown", 0},
		"unavailable":       {httpproxy.Misreport(503, nil, ""), "unknown", 0},
		"repeated":          {httpproxy.Repeat(), "conflict", 0},
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

// Credentials that never worked are wrong; those that did have expired.
func TestWrongCredentialsArePermanent(t *testing.T) {
	server := testserver.StartAzurite(t)
	server.Key = "d3Jvbmc="
	s := openStore(t, server, server.Addr)
	if _, err := s.Load(t.Context(), "e"); outcome(err) != "permanent" {
		t.Errorf("a wrong key: %v", err)
	}
	for _, status := range []int{401, 403} {
		proxy := startProxy(t, server)
		proxy.Inject(refusal(status, "AuthenticationFailed"))
		s := openStore(t, server, proxy.Addr())
		if _, err := s.CompareAndSwap(t.Context(), "e", "", held(1, "a")); outcome(err) != "permanent" {
			t.Errorf("credentials refused with %d: %v", status, err)
		}
	}
}

func TestMissingContainer(t *testing.T) {
	server := testserver.StartAzurite(t)
	s := openStore(t, server, server.Addr, WithCreate(false))
	_, loading := s.Load(t.Context(), "e")
	_, swapping := s.CompareAndSwap(t.Context(), "e", "", held(1, "a"))
	for _, err := range []error{loading, swapping} {
		if outcome(err) != "permanent" || !strings.Contains(err.Error(), "ContainerNotFound") {
			t.Errorf("without a container: %v", err)
		}
	}
	s = openStore(t, server, server.Addr)
	if names, err := s.List(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("before it is made: %q, %v", names, err)
	}
	if now := mustLoad(t, s); now.Exists() {
		t.Errorf("before it is made: %+v", now)
	}
	mustSwap(t, s, "", held(1, "a"))
}

func TestNothingSentIsNotApplied(t *testing.T) {
	server := testserver.StartAzurite(t)
	s := openStore(t, server, server.Addr)
	current := mustSwap(t, s, "", held(1, "a"))
	server.Stop()
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

// A service that ignores conditions is caught before it holds an election. A shared access signature does not cover the
// headers that carry them, so they can be dropped on the way.
func TestIgnoringServiceIsRefused(t *testing.T) {
	server := testserver.StartAzurite(t)
	mustSwap(t, openStore(t, server, server.Addr), "", held(1, "a")) // makes the container
	proxy := startProxy(t, server)
	signed, err := client(t, server, server.Addr).GetSASURL(
		sas.ContainerPermissions{Read: true, Write: true, Create: true, List: true, Delete: true},
		time.Now().Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	through, err := container.NewClientWithNoCredential(strings.Replace(signed, server.Addr, proxy.Addr(), 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range []string{"If-Match", "If-None-Match", ""} {
		in := proxy.Inject(httpproxy.Strip(condition))
		for range 2 {
			s, err := New(through)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.CompareAndSwap(t.Context(), "other", "", held(1, "a"))
			switch {
			case condition == "" && outcome(err) == "permanent":
				t.Errorf("a service that ignores nothing: %v", err)
			case condition != "" && (outcome(err) != "permanent" || !strings.Contains(err.Error(), condition)):
				t.Errorf("ignoring %s: %v", condition, err)
			}
		}
		in.Heal()
	}
}

// What passes ends no term: a renewal that failed, or that nobody knows of, is followed by one that succeeds.
func TestTermOutlivesWhatPasses(t *testing.T) {
	server := testserver.StartAzurite(t)
	proxy := startProxy(t, server)
	f := fleet.New(t)
	f.Stand(openStore(t, server, proxy.Addr()), "a", fleet.Patient...)
	term := f.Next()
	put := func(fault httpproxy.Fault) httpproxy.Fault { return fault.On(http.MethodPut, "") }
	for _, fault := range []httpproxy.Fault{
		put(httpproxy.LoseReply()), put(httpproxy.LoseRequest()), put(httpproxy.Repeat()),
		put(refusal(503, "ServerBusy")), put(httpproxy.Misreport(500, nil, "")),
		refusal(401, "InvalidAuthenticationInfo"),
	} {
		<-proxy.Inject(fault.Times(1)).Met()
		renewed(t, proxy)
	}
	server.Restart()
	renewed(t, proxy)
	if !term.Valid() {
		t.Error("what passes has ended the term")
	}
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

// Three real candidates through what ends terms, between them and a service that keeps what it has acknowledged.
func TestFleetThroughFaults(t *testing.T) {
	server := testserver.StartAzurite(t)
	f := fleet.New(t)
	proxies := map[string]*httpproxy.Proxy{}
	for _, id := range []string{"a", "b", "c"} {
		proxies[id] = startProxy(t, server)
		f.Stand(openStore(t, server, proxies[id].Addr()), id)
	}
	term := f.Next()
	for _, fault := range []httpproxy.Fault{
		refusal(403, "AuthenticationFailed"),
		httpproxy.Throttle(503, time.Second, ""),
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
	term = f.Next()
	server.Stop()
	f.Over(term)
	server.Start()
	f.Next()
	f.Check()
}
