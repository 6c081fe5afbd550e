// Package objecttest tests a store in an object storage on a real server, through the faults of its network.
package objecttest

import (
	"net/http"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// TB is what this package needs of a test.
type TB interface {
	testserver.TB
	storetest.TB
	fleet.TB
}

// Server is a server under test.
type Server struct {
	*testserver.Process
	// Addr is its host and port.
	Addr string
	// Halt ends it. What it has acknowledged is there when it is started again.
	Halt func()
	// Open returns a store on it, through addr, that is closed with the test.
	Open func(addr string) tenure.Store
}

// Answer is what becomes of a write, and what its caller has to be told.
type Answer struct {
	fault httpproxy.Fault
	want  storetest.Outcome
	wait  time.Duration
}

// Expect has a fault reported as an outcome, with the time that the caller is asked to wait.
func Expect(fault httpproxy.Fault, want storetest.Outcome, wait time.Duration) Answer {
	return Answer{fault, want, wait}
}

// Answers checks what a store says of a write that is answered so or so. That a write was carried out while the answer
// says something else shows which answers must leave the outcome open.
func Answers(t TB, server Server, answers map[string]Answer) {
	t.Helper()
	proxy := httpproxy.Start(t, server.Addr)
	s := server.Open(proxy.Addr())
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	for name, answer := range answers {
		before, puts := current, proxy.Count(http.MethodPut)
		proxy.Inject(answer.fault.On(http.MethodPut, "").Times(1))
		_, err := s.CompareAndSwap(t.Context(), "e", current.Version, storetest.Held(current.Record.Token+1, "a"))
		got := storetest.OutcomeOf(err)
		if got != answer.want || tenure.RetryAfter(err) != answer.wait {
			t.Errorf("%s: %s, wait %v: %v", name, got, tenure.RetryAfter(err), err)
		}
		if sent := proxy.Count(http.MethodPut) - puts; sent != 1 {
			t.Errorf("%s: the write was sent %d times", name, sent)
		}
		current = storetest.Load(t, s, "e")
		landed := current.Version != before.Version
		if landed && (answer.want == storetest.NotApplied || answer.want == storetest.Permanent) {
			t.Errorf("%s: the write has landed", name)
		}
	}
}

// NothingSent checks that a write which found no server is known not to have happened.
func NothingSent(t TB, server Server) {
	t.Helper()
	s := server.Open(server.Addr)
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	server.Halt()
	// The first attempt may find the connection that has died, of which nobody can know.
	_, _ = s.Load(t.Context(), "e")
	_, err := s.CompareAndSwap(t.Context(), "e", current.Version, storetest.Held(2, "a"))
	storetest.Want(t, storetest.NotApplied, err)
	server.Start()
	if now := storetest.Load(t, s, "e"); now.Version != current.Version {
		t.Errorf("after the restart: %+v", now)
	}
}

// TermOutlives checks that what passes ends no term: a renewal that failed, or that nobody knows of, is followed by one
// that succeeds. faults are those of this storage that a write meets, besides those of all.
func TermOutlives(t TB, server Server, faults ...httpproxy.Fault) {
	t.Helper()
	proxy := httpproxy.Start(t, server.Addr)
	var troubles []func()
	for _, fault := range append(faults, httpproxy.LoseReply(), httpproxy.LoseRequest(), httpproxy.Repeat()) {
		troubles = append(troubles, func() { <-proxy.Inject(fault.On(http.MethodPut, "").Times(1)).Met() })
	}
	troubles = append(troubles, func() { server.Halt(); server.Start() })
	scenario.TermOutlives(t, func() tenure.Store { return server.Open(proxy.Addr()) }, troubles...)
}

// Fleet checks that candidates lead one after the other through what ends terms: faults that the leader alone has, a
// server that stands still, and one that is gone but keeps what it has acknowledged.
func Fleet(t TB, server Server, faults ...httpproxy.Fault) {
	t.Helper()
	f := fleet.New(t)
	proxies := map[string]*httpproxy.Proxy{}
	for _, id := range []string{"a", "b", "c"} {
		proxies[id] = httpproxy.Start(t, server.Addr)
		f.Stand(server.Open(proxies[id].Addr()), id)
	}
	term := f.Next()
	for _, fault := range append(faults, httpproxy.Hang()) {
		in := proxies[term.Leader].Inject(fault)
		f.Over(term)
		term = f.Next()
		in.Heal()
	}
	f.Check()
	scenario.Outages(t, func() tenure.Store { return server.Open(server.Addr) },
		scenario.Freeze(server.Process), scenario.Outage{Begin: server.Halt, End: server.Start})
}

// Load checks what README.md and docs/poll-costs.md state that a candidate sends. A renewal comes after 0.9 thirds of
// the TTL at the earliest, a poll after 0.9 fifths.
func Load(t TB, server Server) {
	t.Helper()
	party := func() fleet.Party {
		proxy := httpproxy.Start(t, server.Addr)
		return fleet.Party{Store: server.Open(proxy.Addr()), Sent: func() int { return proxy.Count("") }}
	}
	leads, follows := fleet.Load(t, party(), party())
	t.Logf("requests a minute at the default TTL: leader %.1f, follower %.1f", leads, follows)
	if leads == 0 || leads > 22 || follows == 0 || follows > 36 {
		t.Errorf("a leader sends %.1f requests a minute, a follower %.1f", leads, follows)
	}
}
