package tenuregrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"

	"github.com/tenure-go/tenure"
	tenuregrpc "github.com/tenure-go/tenure/adapters/grpc"
	"github.com/tenure-go/tenure/memory"
)

// clientConn notes what a resolver tells its client.
type clientConn struct {
	resolver.ClientConn
	mu    sync.Mutex
	notes []string
}

func (c *clientConn) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, text)
}

func (c *clientConn) UpdateState(s resolver.State) error {
	var at []string
	for _, a := range s.Addresses {
		at = append(at, a.Addr+" as "+a.ServerName)
	}
	if at == nil {
		c.note("nowhere")
	} else {
		c.note("to " + strings.Join(at, ", "))
	}
	return nil
}

func (c *clientConn) ReportError(err error) { c.note(err.Error()) }

// since checks what was noted since the last time, once nothing moves any more.
func (c *clientConn) since(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.notes
	c.notes = nil
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("the client was told %q, want %q", got, want)
	}
}

func target(t *testing.T, text string) resolver.Target {
	t.Helper()
	u, err := url.Parse(text)
	return resolver.Target{URL: *must(t, u, err)}
}

// resolve runs a test with a resolver in a bubble, which ends only if nothing of it is left.
func resolve(t *testing.T, test func(t *testing.T, store *memory.Store, seen *away, cc *clientConn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		defer store.Close()
		seen, cc := &away{Store: store}, &clientConn{}
		b, err := tenuregrpc.NewResolver(seen)
		r, err := must(t, b, err).Build(target(t, tenuregrpc.Target(name)), cc, resolver.BuildOptions{})
		must(t, r, err)
		cc.since(t, vacant)
		test(t, store, seen, cc)
		r.Close()
		cc.since(t)
		r.ResolveNow(resolver.ResolveNowOptions{})
	})
}

// stand has a candidate stand in a bubble.
func stand(t *testing.T, store tenure.Store, id, address string) *tenure.Candidate {
	t.Helper()
	c, err := tenure.New(store, name, tenure.WithID(id), tenure.WithAddress(address), tenure.WithTTL(10*time.Second))
	must(t, c, err)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return c
}

func stop(t *testing.T, c *tenure.Candidate) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

const (
	vacant = `election "billing" has no leader at present`
	poll   = 3 * time.Second // the store of the bubble pushes nothing to the resolver
)

func TestResolverFollowsTheRecord(t *testing.T) {
	resolve(t, func(t *testing.T, store *memory.Store, _ *away, cc *clientConn) {
		a := stand(t, store, "a", "a.internal:81")
		time.Sleep(poll)
		cc.since(t, "to a.internal:81 as a.internal:81")
		b := stand(t, store, "b", "unix:///run/b.sock")
		time.Sleep(time.Minute)
		cc.since(t)
		if err := a.TransferTo(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(poll)
		cc.since(t, "to unix:///run/b.sock as localhost")
		stop(t, a)
		stop(t, b)
		time.Sleep(poll)
		cc.since(t, "nowhere", vacant)
	})
}

func TestResolverLeavesASilentLeader(t *testing.T) {
	resolve(t, func(t *testing.T, store *memory.Store, _ *away, cc *clientConn) {
		frozen := &away{Store: store}
		a := stand(t, frozen, "a", "a:1")
		time.Sleep(poll)
		cc.since(t, "to a:1")
		frozen.cut(errAway)
		time.Sleep(15 * time.Second)
		cc.since(t, "nowhere", vacant)
		frozen.cut(nil)
		time.Sleep(15 * time.Second)
		cc.since(t, "to a:1")
		stop(t, a)
		time.Sleep(poll)
		cc.since(t, "nowhere", vacant)
	})
}

func TestResolverStaysWhileItCannotReadTheStore(t *testing.T) {
	resolve(t, func(t *testing.T, store *memory.Store, seen *away, cc *clientConn) {
		a := stand(t, store, "a", "a:1")
		time.Sleep(poll)
		cc.since(t, "to a:1")
		seen.cut(errAway)
		time.Sleep(time.Hour)
		cc.since(t)
		stop(t, a)
		seen.cut(nil)
		time.Sleep(time.Minute)
		cc.since(t, "nowhere", vacant)
	})
}

func TestResolverTellsWhatKeepsItFromStarting(t *testing.T) {
	for _, failure := range []error{errAway, tenure.Permanent(errAway)} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New()
			defer store.Close()
			seen, cc := &away{Store: store, down: failure}, &clientConn{}
			b, err := tenuregrpc.NewResolver(seen)
			r, err := must(t, b, err).Build(target(t, tenuregrpc.Target(name)), cc, resolver.BuildOptions{})
			must(t, r, err)
			cc.since(t, "the store is away")
			time.Sleep(time.Hour)
			synctest.Wait()
			if n := len(cc.notes); n < 60 || n > 300 {
				t.Errorf("it tried %d times in an hour", n)
			}
			cc.notes = nil
			seen.cut(nil)
			time.Sleep(2 * time.Minute)
			cc.since(t, vacant)
			r.Close()
		})
	}
}

func TestResolverChecksAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"":                              "advertises none",
		"http://a:1":                    "is a URL",
		"dns:///a:1":                    "is a URL",
		"a":                             "neither host:port",
		"a:1:2":                         "neither host:port",
		":1":                            "names no host",
		"0.0.0.0:1":                     "where a server listens",
		"[::]:1":                        "where a server listens",
		"a:0":                           "the port of",
		"a:65536":                       "the port of",
		"a:http":                        "the port of",
		"a b:1":                         "no name of a host",
		"a/b:1":                         "no name of a host",
		"ü:1":                           "no name of a host",
		"[fe80::1%\n]:1":                "no name of a host",
		"unix:run/a":                    "no absolute path",
		"unix://run/a":                  "", // as an empty authority would be, this is a path to gRPC
		"unix:///":                      "no absolute path",
		"unix:///run/a b":               "no absolute path",
		"unix:///run/a?b":               "no absolute path",
		"a_1.b-2:65535":                 "",
		"192.0.2.1:1":                   "",
		"[2001:db8::1]:1":               "",
		"[fe80::1%eth0]:1":              "",
		"unix:/run/a":                   "",
		"unix:///run/a.sock":            "",
		strings.Repeat("a", 254) + ":1": "no name of a host",
	} {
		resolve(t, func(t *testing.T, store *memory.Store, _ *away, cc *clientConn) {
			a := stand(t, store, "a", address)
			time.Sleep(poll)
			if want == "" {
				cc.since(t, "to "+address)
			} else {
				cc.since(t, want)
			}
			stop(t, a)
		})
	}
}

func TestResolverWithLeaderAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, cc := memory.New(), &clientConn{}
		defer store.Close()
		find := func(r tenure.Record) (string, error) {
			if r.Leader == "b" {
				return "", errors.New("b is not for you")
			}
			return strings.Replace(r.Address, "http://", "", 1), nil
		}
		b, err := tenuregrpc.NewResolver(store, tenuregrpc.WithLeaderAddress(find))
		r, err := must(t, b, err).Build(target(t, "tenure:///billing"), cc, resolver.BuildOptions{})
		must(t, r, err)
		cc.since(t, vacant)
		c := stand(t, store, "a", "http://a:1")
		cc.since(t, "to a:1")
		stop(t, c)
		c = stand(t, store, "b", "http://b:1")
		cc.since(t, "nowhere", vacant, "b is not for you")
		stop(t, c)
		r.Close()
	})
}

// tardy is a store that returns some time after its context has ended, though before it is given up.
type tardy struct {
	tenure.Store
	returned bool
}

func (s *tardy) Load(ctx context.Context, _ string) (tenure.Snapshot, error) {
	<-ctx.Done()
	time.Sleep(100 * time.Millisecond)
	s.returned = true
	return tenure.Snapshot{}, ctx.Err()
}

func TestCloseWaitsForTheResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &tardy{}
		b, err := tenuregrpc.NewResolver(store)
		r, err := must(t, b, err).Build(target(t, tenuregrpc.Target(name)), &clientConn{}, resolver.BuildOptions{})
		must(t, r, err)
		synctest.Wait()
		r.Close()
		if !store.returned {
			t.Error("a call to the store is still under way")
		}
	})
}

func TestResolverRefusesTargets(t *testing.T) {
	b, err := tenuregrpc.NewResolver(memory.New())
	must(t, b, err)
	for _, text := range []string{
		"tenure:///", "tenure://host/billing", "tenure:billing", "tenure:///billing?x=1", "tenure:///billing#x",
		"tenure://user@/billing", "tenure:///a%00b", "tenure:///" + strings.Repeat("a", 256),
	} {
		r, err := b.Build(target(t, text), &clientConn{}, resolver.BuildOptions{})
		if !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", text, err)
		}
		if r != nil {
			r.Close()
		}
	}
	if _, err := tenuregrpc.NewResolver(nil); !errors.Is(err, tenure.ErrConfig) {
		t.Error(err)
	}
	if _, err := tenuregrpc.NewResolver(memory.New(), nil, tenuregrpc.WithLeaderAddress(nil)); !errors.Is(err, tenure.ErrConfig) {
		t.Error(err)
	}
}

func TestTargetNamesEveryElection(t *testing.T) {
	for _, election := range []string{"a", "a b", "a/b", "/a", "//", "a%2Fb", "ü?#[]@", ":", "..", " "} {
		if got := target(t, tenuregrpc.Target(election)).Endpoint(); got != election {
			t.Errorf("the target of %q is for %q", election, got)
		}
	}
}

func TestClientsFollowATransfer(t *testing.T) {
	store := memory.New()
	a := start(t, store, "a").lead(t)
	b := start(t, store, "b")
	c := follow(t, store)
	c.wait(t, "a")
	if err := a.TransferTo(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	c.wait(t, "b", "a")
	if err := b.TransferTo(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	c.wait(t, "a", "b")
}

func TestClientsFollowACrash(t *testing.T) {
	store := memory.New()
	a := start(t, store, "a", tenure.WithTTL(ttl)).lead(t)
	c := follow(t, store)
	c.wait(t, "a")
	start(t, store, "b").hear(t)
	a.crash()
	c.wait(t, "b", "a")
}

// A process that comes back at its address is found at once, though connecting to it has failed before.
func TestClientsFollowARestartInSpiteOfTheirBackoff(t *testing.T) {
	store := memory.New()
	// Nobody renews the lease of the new process: it has to outlast the wait for the client on a busy machine.
	a := start(t, store, "a", tenure.WithTTL(2*patience)).lead(t)
	c := follow(t, store, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: backoff.Config{BaseDelay: time.Hour, MaxDelay: time.Hour}, MinConnectTimeout: time.Second,
	}))
	c.wait(t, "a")
	a.server.Stop()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) { // until the client has tried in vain
		_, err := c.call(t)
		expectCode(t, err, codes.Unavailable)
		if strings.Contains(err.Error(), "refused") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the client has not tried to connect: %v", err)
		}
	}
	serve(t, listen(t, a.address), &service{name: "a again"})
	// In the record the new process follows the old one without a gap: no vacancy makes the client forget the address.
	s, err := store.Load(t.Context(), name)
	must(t, s, err)
	a.away.cut(errAway)
	next := s.Record.Clone()
	next.Session, next.Token = "another", next.Token+1
	for {
		if _, err = store.CompareAndSwap(t.Context(), name, s.Version, next); !errors.Is(err, tenure.ErrConflict) {
			break
		}
		s, err = store.Load(t.Context(), name)
		must(t, s, err)
	}
	must(t, s, err)
	c.wait(t, "a again")
	a.away.cut(nil) // it need not try to resign
}

func TestCallsWithoutALeader(t *testing.T) {
	for _, policy := range []string{"pick_first", "round_robin"} {
		t.Run(policy, func(t *testing.T) {
			store := memory.New()
			c := follow(t, store, grpc.WithDefaultServiceConfig(
				fmt.Sprintf(`{"loadBalancingConfig":[{%q:{}}]}`, policy)))
			_, err := c.call(t)
			expectCode(t, err, codes.Unavailable)
			if policy == "pick_first" && !strings.Contains(err.Error(), vacant) {
				t.Errorf("the error does not tell why: %v", err)
			}
			waited := make(chan string, 1)
			go func() {
				got, err := c.call(t, grpc.WaitForReady(true))
				waited <- fmt.Sprint(got, err)
			}()
			// The server of this leader would answer also when it does not lead.
			l := listen(t, "127.0.0.1:0")
			serve(t, l, &service{name: "a"})
			a, err := tenure.New(store, name, tenure.WithAddress(l.Addr().String()))
			must(t, a, err)
			won, err := a.TryAcquire(t.Context())
			if !must(t, won, err) {
				t.Fatal("not elected")
			}
			if got := <-waited; got != "a<nil>" {
				t.Errorf("the call that waits got %s", got)
			}
			stop(t, a)
			for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) { // until the client knows
				_, err := c.call(t)
				if err != nil {
					expectCode(t, err, codes.Unavailable)
					break
				}
				if time.Now().After(end) {
					t.Fatal("the former leader is still called")
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := c.UnaryCall(ctx, nil, grpc.WaitForReady(true)); ctx.Err() == nil {
				t.Errorf("a call that waits did not: %v", err)
			}
		})
	}
}
