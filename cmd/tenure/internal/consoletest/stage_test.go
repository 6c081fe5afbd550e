package consoletest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
	"github.com/tenure-go/tenure/internal/output"
	"github.com/tenure-go/tenure/memory"
)

// ttl is that of all candidates, long enough for a slow machine to renew in time.
const ttl = 6 * time.Second

// stage is a sidecar that can be ended and served again at the same address, and other candidates over the same store.
type stage struct {
	t       *testing.T
	store   *memory.Store
	options sidecar.Options
	addr    string
	log     output.Buffer
	end     func()
}

// newStage serves two elections, "own" in which the sidecar stands and "open" to campaigns, with changes to the options.
func newStage(t *testing.T, change func(*sidecar.Options)) *stage {
	t.Helper()
	s := &stage{t: t, store: memory.New(), addr: "127.0.0.1:0"}
	address, err := sidecar.ParseAddress(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	s.options = sidecar.Options{
		Store: s.store, ID: "side", Describe: describe, Address: address,
		Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
		Elections: []sidecar.Election{
			{Name: "own", TTL: ttl, Drain: ttl / 5, Address: "here:80", Metadata: map[string]string{"zone": "b"}},
			{Name: "open", Campaign: true, TTL: ttl, Drain: ttl / 5},
		},
	}
	if change != nil {
		change(&s.options)
	}
	s.serve()
	return s
}

// serve starts the sidecar, at the address that it had before.
func (s *stage) serve() {
	s.t.Helper()
	side, err := sidecar.New(s.options)
	if err != nil {
		s.t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- side.Serve(ctx, listener) }()
	s.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(s.end)
}

func (s *stage) url() string { return "http://" + s.addr + "/console/" }

// stand has a candidate stand over the stage's store until the test ends.
func (s *stage) stand(election, id string, options ...tenure.Option) *tenure.Candidate {
	s.t.Helper()
	return s.standOver(s.store, election, id, options...)
}

func (s *stage) standOver(store tenure.Store, election, id string, options ...tenure.Option) *tenure.Candidate {
	s.t.Helper()
	c, err := tenure.New(store, election, append([]tenure.Option{
		tenure.WithID(id), tenure.WithTTL(ttl), tenure.WithDrain(ttl / 20),
	}, options...)...)
	if err == nil {
		err = c.Start(context.Background())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { leave(s.t, c) })
	return c
}

// leave has a candidate stop; twice is harmless.
func leave(t *testing.T, c *tenure.Candidate) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Logf("stop of %s: %v", c.ID(), err)
	}
}

// lead returns once the candidate leads.
func lead(t *testing.T, c *tenure.Candidate) *tenure.Candidate {
	t.Helper()
	for end := time.Now().Add(patience); !c.IsLeader(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not lead: %+v", c.ID(), c.Status())
		}
	}
	return c
}

// awaitSeen returns once the sidecar has seen who leads.
func (s *stage) awaitSeen(election, leader string) {
	s.t.Helper()
	var seen struct {
		Leader string `json:"leader"`
	}
	for end := time.Now().Add(patience); seen.Leader != leader; time.Sleep(10 * time.Millisecond) {
		r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.addr+"/v1/elections/"+election, http.NoBody)
		if err != nil {
			s.t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err == nil {
			err = errors.Join(json.NewDecoder(response.Body).Decode(&seen), response.Body.Close())
		}
		if err != nil || time.Now().After(end) {
			s.t.Fatalf("the sidecar sees %q lead %q, not %q (%v)", seen.Leader, election, leader, err)
		}
	}
}

func (s *stage) record(election string) tenure.Record {
	s.t.Helper()
	snapshot, err := s.store.Load(s.t.Context(), election)
	if err != nil {
		s.t.Fatal(err)
	}
	return snapshot.Record
}

// describe does for tests what the command does in full.
func describe(before, now tenure.Change) (state, why string) {
	r := now.Record
	switch {
	case !now.Exists:
		return "missing", ""
	case r.Vacant() && r.Pause != nil:
		return "paused", "paused: " + r.Pause.Reason
	case r.Vacant():
		return "vacant", "the leader gave the seat back"
	case now.Silent:
		return "silent", "the leader was not heard of for its TTL"
	case now.Kind == tenure.ChangeAsked && r.Request != nil:
		return "held", "asked to leave by " + r.Request.By
	case before.Record.Reserved == r.Leader:
		return "held", "the seat was kept for it"
	}
	return "held", "the seat was vacant"
}

// failing is a store that fails for some elections while it is told to, and pushes nothing.
type failing struct {
	tenure.Store
	mu     sync.Mutex
	failed map[string]bool
}

func (f *failing) fail(election string, fails bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed[election] = fails
}

func (f *failing) check(election string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed[election] {
		return errors.New("dial tcp 10.0.0.5:5432: connect: connection refused")
	}
	return nil
}

// Load implements [tenure.Store].
func (f *failing) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := f.check(election); err != nil {
		return tenure.Snapshot{}, err
	}
	return f.Store.Load(ctx, election)
}

// CompareAndSwap implements [tenure.Store].
func (f *failing) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := f.check(election); err != nil {
		return tenure.Snapshot{}, err
	}
	return f.Store.CompareAndSwap(ctx, election, old, record)
}
