package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure/examples/internal/exampletest"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

// service is a storage and three nodes, by their IDs.
type service struct {
	t       *testing.T
	storage *testserver.Process
	wire    *wire
	nodes   map[string]*testserver.Process
	urls    map[string]string
	client  *http.Client

	refused, unknown int // answers that asked to try again, and those that left open what was done
}

// wire is between the nodes and the storage.
type wire struct {
	storage string // its URL
	hold    atomic.Bool
	held    chan string // a note that is being held up
	free    chan struct{}
	late    chan int // what the storage answered in the end
}

// ServeHTTP passes a request on. One that is held up goes on even if its sender has gone, as what is on the wire does.
func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	held := r.Method == http.MethodPut && w.hold.CompareAndSwap(true, false)
	if held {
		w.held <- r.URL.Path
		<-w.free
	}
	ctx := context.WithoutCancel(r.Context())
	out, err := http.NewRequestWithContext(ctx, r.Method, w.storage+r.URL.EscapedPath(), bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	out.Header = r.Header
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	if held {
		w.late <- resp.StatusCode
	}
	rw.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(rw, resp.Body)
}

func newService(t *testing.T, ttl string) *service {
	t.Helper()
	dir, addr := t.TempDir(), testserver.Addr(testserver.Port(t))
	s := &service{
		t: t, nodes: map[string]*testserver.Process{}, urls: map[string]string{}, client: &http.Client{Timeout: time.Minute},
		wire: &wire{
			storage: "http://" + addr, held: make(chan string, 1), free: make(chan struct{}), late: make(chan int, 1),
		},
	}
	s.storage = testserver.Start(t, testserver.Command{
		Program: exampletest.Build(t, "./storage"), Args: []string{"-listen", addr, "-dir", dir},
		Ready: testserver.Dial(addr),
	})
	between := httptest.NewServer(s.wire)
	t.Cleanup(between.Close)
	program, elections := exampletest.Build(t, "."), t.TempDir()
	for _, id := range []string{"a", "b", "c"} {
		listen := testserver.Addr(testserver.Port(t))
		s.urls[id] = "http://" + listen
		s.nodes[id] = exampletest.Start(t, nil, program,
			"-elections", elections, "-storage", between.URL, "-listen", listen, "-id", id, "-ttl", ttl)
	}
	for id := range s.nodes {
		storetest.Eventually(t, "node "+id+" is ready", func() bool { return s.probe(id, "/readyz") })
	}
	return s
}

func (s *service) probe(id, path string) bool {
	resp, err := s.client.Get(s.urls[id] + "/probes" + path)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// leader waits until one of the nodes says that it leads.
func (s *service) leader() (leader string) {
	s.t.Helper()
	storetest.Eventually(s.t, "a node leads", func() bool {
		for id := range s.nodes {
			if s.probe(id, "/leader") {
				leader = id
				return true
			}
		}
		return false
	})
	return leader
}

// remove takes a node out.
func (s *service) remove(id string) *testserver.Process {
	node := s.nodes[id]
	delete(s.nodes, id)
	delete(s.urls, id)
	return node
}

func (s *service) send(method, url, text string) (status int, body string, h http.Header) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(answer), resp.Header
}

// put writes a note through every node, as a client does that tries again when it is asked to.
func (s *service) put(name, text string) {
	s.t.Helper()
	for id, url := range s.urls {
		const most = 30 // the lease is 3 s, and each attempt waits for one
		for attempt := 0; ; attempt++ {
			status, body, header := s.send(http.MethodPut, url+"/notes/"+name, text)
			if status == http.StatusNoContent {
				break
			}
			switch status {
			case http.StatusServiceUnavailable:
				s.refused++
				if header.Get("Retry-After") != "1" {
					s.t.Errorf("a refusal does not say when to try again: %q", header)
				}
			case http.StatusBadGateway, http.StatusGatewayTimeout: // the node passed it on to one that died
				s.unknown++
			default:
				s.t.Fatalf("node %s answers %d: %s", id, status, body)
			}
			if attempt == most {
				s.t.Fatalf("node %s still answers %d after %d attempts: %s", id, status, most, body)
			}
			time.Sleep(time.Second) // as Retry-After says
		}
	}
}

// check reads a note through every node.
func (s *service) check(name, want string) {
	s.t.Helper()
	for id, url := range s.urls {
		if status, got, _ := s.send(http.MethodGet, url+"/notes/"+name, ""); status != http.StatusOK || got != want {
			s.t.Errorf("node %s reads %d %q, want %q", id, status, got, want)
		}
	}
}

// holdUp has a write through the other nodes wait on its way from the leader to the storage.
func (s *service) holdUp(name, text string) {
	s.t.Helper()
	s.wire.hold.Store(true)
	for _, url := range s.urls {
		go func() { // the answer, if there is one, is late
			req, err := http.NewRequest(http.MethodPut, url+"/notes/"+name, strings.NewReader(text))
			if err != nil {
				panic(err)
			}
			if resp, err := s.client.Do(req); err == nil {
				resp.Body.Close()
			}
		}()
		break
	}
	select {
	case <-s.wire.held:
	case <-time.After(time.Minute):
		s.t.Fatal("no write has come to the storage")
	}
}

// TestWritesFollowTheLeader when it is killed with a write under way, and when it is stopped.
func TestWritesFollowTheLeader(t *testing.T) {
	t.Parallel()
	s := newService(t, "3s")
	s.put("one", "1")
	first := s.leader()
	killed := s.remove(first)
	s.holdUp("two", "2")
	killed.Kill()
	close(s.wire.free)
	s.put("two", "2")
	second := s.leader()
	if second == first {
		t.Errorf("%s leads, which is dead", first)
	}
	s.remove(second).Stop()
	s.put("three", "3")
	for name, want := range map[string]string{"one": "1", "two": "2", "three": "3"} {
		s.check(name, want)
	}
	t.Logf("%d requests were asked to come again, of %d it is not known what became", s.refused, s.unknown)
}

// TestStoppedNodeHandsOver although its lease would have lasted for long, and answers until it has.
func TestStoppedNodeHandsOver(t *testing.T) {
	t.Parallel()
	s := newService(t, "10m")
	s.put("one", "1")
	s.remove(s.leader()).Stop()
	s.put("two", "2")
	s.check("two", "2")
}

// TestStorageRefusesADeposedLeader that was frozen while its write was on the way, also after the storage was killed.
func TestStorageRefusesADeposedLeader(t *testing.T) {
	t.Parallel()
	s := newService(t, "3s")
	s.put("one", "the first leader's")
	frozen := s.remove(s.leader())
	s.holdUp("one", "the first leader's, too late")
	frozen.Freeze()
	s.put("one", "the second leader's")
	s.storage.Kill()
	s.storage.Start()
	close(s.wire.free)
	if status := <-s.wire.late; status != http.StatusPreconditionFailed {
		t.Errorf("what the first leader sent before is answered %d", status)
	}
	frozen.Thaw()
	exampletest.AwaitLog(t, frozen, "INFO ended")
	s.check("one", "the second leader's")
	if status, _, _ := s.send(http.MethodPut, s.wire.storage+"/notes/one", "nobody's"); status != http.StatusPreconditionRequired {
		t.Errorf("a write without a token is answered %d", status)
	}
}
