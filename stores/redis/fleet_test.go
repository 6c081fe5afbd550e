package redis

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

// fleet is a number of candidates for one election. It notes who leads when, by the one clock of this process, and fails
// the test if two do at once, or a token does not rise.
type fleet struct {
	t        testing.TB
	election string
	ttl      time.Duration

	mu      sync.Mutex
	members map[string]*member
	leading string // who leads now
	tokens  []uint64
	elected []string
	ended   []error // why terms did
	news    chan struct{}
}

type member struct {
	candidate *tenure.Candidate
	cancel    context.CancelFunc
	done      chan struct{}
}

func newFleet(t testing.TB, election string, ttl time.Duration) *fleet {
	f := &fleet{t: t, election: election, ttl: ttl, members: map[string]*member{}, news: make(chan struct{}, 1)}
	t.Cleanup(f.end)
	return f
}

// join has a candidate stand by a store.
func (f *fleet) join(id string, s tenure.Store, options ...tenure.Option) {
	f.t.Helper()
	options = append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(f.ttl)}, options...)
	c, err := tenure.New(s, f.election, options...)
	must(f.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{candidate: c, cancel: cancel, done: make(chan struct{})}
	f.mu.Lock()
	f.members[id] = m
	f.mu.Unlock()
	go func() {
		defer close(m.done)
		err := c.Run(ctx, f.lead)
		if ctx.Err() == nil {
			f.t.Errorf("candidate %s gave up: %v", id, err)
		}
	}()
}

func (f *fleet) lead(ctx context.Context, term tenure.Term) error {
	f.begin(term)
	<-ctx.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leading = ""
	f.ended = append(f.ended, context.Cause(ctx))
	return nil
}

func (f *fleet) begin(term tenure.Term) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leading != "" {
		f.t.Errorf("%s and %s lead at once", f.leading, term.Leader)
	}
	if n := len(f.tokens); n > 0 && f.tokens[n-1] >= term.Token {
		f.t.Errorf("token %d of %s follows %d", term.Token, term.Leader, f.tokens[n-1])
	}
	f.leading = term.Leader
	f.tokens = append(f.tokens, term.Token)
	f.elected = append(f.elected, term.Leader)
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *fleet) leader() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leading
}

// elections returns how often a candidate was elected, any one if it has no name.
func (f *fleet) elections(id string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, elected := range f.elected {
		if id == "" || elected == id {
			n++
		}
	}
	return n
}

func (f *fleet) awaitLeader() string { return f.awaitLeaderOtherThan("") }

func (f *fleet) awaitLeaderOtherThan(id string) string {
	f.t.Helper()
	var leading string
	eventually(f.t, "somebody else than "+id+" leads", func() bool {
		leading = f.leader()
		return leading != "" && leading != id
	})
	return leading
}

// stop has a candidate leave in good order.
func (f *fleet) stop(id string) {
	f.mu.Lock()
	m := f.members[id]
	f.mu.Unlock()
	m.cancel()
	<-m.done
}

// end stops all candidates.
func (f *fleet) end() {
	f.mu.Lock()
	var ids []string
	for id := range f.members {
		ids = append(ids, id)
	}
	f.mu.Unlock()
	for _, id := range ids {
		f.stop(id)
	}
}

func (f *fleet) causes() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ended)
}

// A server that stands still for less than a lease changes nothing, and one that does for longer ends the term, and no
// candidate leads beside another.
func TestFrozenServer(t *testing.T) {
	server := testserver.StartRedis(t)
	f := newFleet(t, "e", 3*time.Second)
	for _, id := range []string{"one", "two", "three"} {
		f.join(id, storeAt(t, server))
	}
	first := f.awaitLeader()
	server.Freeze()
	time.Sleep(time.Second) // a lease that goes on cannot be seen sooner
	server.Thaw()
	server.Await("INFO server", "redis_version")
	awaitRenewals(t, storeAt(t, server), "e", 2)
	if got := f.elections(""); got != 1 || f.leader() != first {
		t.Errorf("after a short freeze there were %d elections, and %q leads in place of %q", got, f.leader(), first)
	}

	server.Freeze()
	eventually(t, "the leader trusts itself no longer", func() bool { return f.leader() == "" })
	if causes := f.causes(); len(causes) != 1 || !errors.Is(causes[0], tenure.ErrLeaseExpired) {
		t.Errorf("the causes of ended terms are %v, want one lease that expired", causes)
	}
	server.Thaw()
	f.awaitLeader()
	f.end()
}

// awaitRenewals waits until a leader has renewed so often.
func awaitRenewals(t testing.TB, s *Store, election string, n uint64) {
	t.Helper()
	before := mustLoad(t, s, election).Record.Renewals
	eventually(t, "the leader renews", func() bool { return mustLoad(t, s, election).Record.Renewals >= before+n })
}

// Each candidate has connections of its own, and those of the leader are cut, held, and cut again.
func TestPartitionedLeader(t *testing.T) {
	server := testserver.StartRedis(t)
	f := newFleet(t, "e", 2*time.Second)
	proxies := map[string]interface {
		Cut()
		Hold()
		Release()
	}{}
	for _, id := range []string{"one", "two", "three"} {
		p := newProxy(t, server.Addr)
		proxies[id] = p
		f.join(id, newStore(t, newClient(t, p.Addr())))
	}
	leading := f.awaitLeader()
	for range 3 {
		proxies[leading].Cut()
	}
	awaitRenewals(t, storeAt(t, server), "e", 2)
	if got := f.elections(""); got != 1 {
		t.Errorf("after connections that were cut there were %d elections, want the first alone", got)
	}
	proxies[leading].Hold()
	next := f.awaitLeaderOtherThan(leading)
	proxies[leading].Release()
	proxies[leading].Cut()
	awaitRenewals(t, storeAt(t, server), "e", 2)
	if f.leader() != next {
		t.Errorf("%q leads, want %q: the leader of before must not come back", f.leader(), next)
	}
	f.end()
}

// A server that comes back without its data has lost the record and the token. Candidates that saw them say so, wait,
// and go on above; nobody leads beside the leader of before.
func TestRestartWithoutDataIsSeen(t *testing.T) {
	server := testserver.StartRedis(t)
	s := storeAt(t, server)
	for token := range uint64(5) { // a past
		mustSwap(t, s, "e", mustLoad(t, s, "e").Version, tenure.Record{Token: token})
	}
	lost := observeLoss(t, s, "e")
	f := newFleet(t, "e", 2*time.Second)
	f.join("one", storeAt(t, server))
	f.awaitLeader()
	f.join("two", storeAt(t, server))
	awaitRenewals(t, s, "e", 1)
	server.Kill()
	server.Start()
	select {
	case record := <-lost:
		if record.Token != 0 {
			t.Errorf("the observer is told of %+v, want that nothing is left", record)
		}
	case <-time.After(patience):
		t.Error("the observer was not told of the loss")
	}
	eventually(t, "the next term", func() bool { return f.elections("") == 2 })
	if causes := f.causes(); len(causes) != 1 || !errors.Is(causes[0], tenure.ErrDeposed) && !errors.Is(causes[0], tenure.ErrLeaseExpired) {
		t.Errorf("the causes of ended terms are %v, want that the record was gone", causes)
	}
	if got := mustLoad(t, s, "e").Record.Token; got <= 5 {
		t.Errorf("the token is %d, want above 5, which was the last", got)
	}
	f.end()
}

// observeLoss sends the record as it is when an observer finds it lost.
func observeLoss(t testing.TB, s *Store, election string) <-chan tenure.Record {
	t.Helper()
	lost, first := make(chan tenure.Record, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	var observing sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		observing.Wait()
	})
	observing.Go(func() {
		for change, err := range tenure.Observe(ctx, s, election) {
			switch {
			case err != nil:
			case change.Kind == tenure.ChangeFirst:
				close(first)
			case change.Kind == tenure.ChangeLost && len(lost) == 0:
				lost <- change.Record
			}
		}
	})
	<-first
	return lost
}
