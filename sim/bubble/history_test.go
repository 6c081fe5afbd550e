package bubble

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

var (
	seed      = flag.Uint64("bubble.seed", 1, "seed of the first history")
	histories = flag.Int("bubble.histories", 300, "how many histories")
)

const (
	election   = "simulated"
	clockError = 0.01
)

// node is one candidate with its own clocks and its own way to the store.
type node struct {
	id        string
	link      *link
	clocks    *clocks
	candidate *tenure.Candidate
	stop      context.CancelFunc
	done      chan error
}

// history is one run of a few candidates through random faults.
type history struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	ttl    time.Duration
	drain  time.Duration
	store  *memory.Store
	nodes  []*node

	mu      sync.Mutex
	terms   []tenure.Term
	working map[uint64]bool // the terms whose work runs
	elected int
}

// TestHistories checks S1, S2 and S8 at every election, and L4 at the end of every history.
func TestHistories(t *testing.T) {
	terms := 0
	for i := range *histories {
		terms += run(t, *seed+uint64(i), clockError)
		if t.Failed() {
			t.Fatalf("replay: go test ./sim/bubble -run TestHistories -bubble.seed %d -bubble.histories 1 -v",
				*seed+uint64(i))
		}
	}
	t.Logf("%d histories with %d terms", *histories, terms)
	if terms < 3**histories {
		t.Errorf("only %d terms: the histories are too quiet to show anything", terms)
	}
}

// A checker that has never failed proves nothing: clocks far beyond the bound must be seen to break S1.
func TestClocksBeyondTheBoundAreSeenToFail(t *testing.T) {
	for i := range uint64(200) {
		h := newHistory(t, i, 0.5)
		var overlap bool
		synctest.Test(t, func(t *testing.T) {
			h.t = t
			h.play(func(violation string) { overlap = overlap || strings.HasPrefix(violation, "S1") })
		})
		if overlap {
			return
		}
	}
	t.Error("no overlap was found in 200 histories with clocks that are wrong by half")
}

func run(t *testing.T, seed uint64, rateError float64) (terms int) {
	t.Helper()
	h := newHistory(t, seed, rateError)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		h.play(func(violation string) { t.Errorf("seed %d: %s", seed, violation) })
	})
	return h.elected
}

func newHistory(t *testing.T, seed uint64, rateError float64) *history {
	random := rand.New(rand.NewPCG(seed, 0x7e4e))
	ttl := []time.Duration{time.Second, 10 * time.Second, time.Minute}[random.IntN(3)]
	h := &history{
		t: t, seed: seed, random: random, ttl: ttl, drain: ttl / time.Duration(4+random.IntN(8)),
		working: map[uint64]bool{},
	}
	watches := random.IntN(2) == 0
	for i := range 2 + random.IntN(3) {
		n := &node{
			id:     fmt.Sprint("n", i),
			link:   &link{ttl: ttl, random: rand.New(rand.NewPCG(seed, uint64(i))), trouble: random.Float64() / 3},
			clocks: &clocks{rate: 1 + (2*random.Float64()-1)*rateError},
		}
		if watches {
			n.id += "w"
		}
		h.nodes = append(h.nodes, n)
	}
	return h
}

// play runs the history inside a bubble.
func (h *history) play(violated func(string)) {
	h.store = memory.New()
	for i, n := range h.nodes {
		h.prepare(n, uint64(i), violated)
		h.start(n, violated)
	}
	for range 40 {
		time.Sleep(time.Duration(h.random.Int64N(int64(h.ttl))))
		h.disturb(h.nodes[h.random.IntN(len(h.nodes))], violated)
	}
	h.heal(violated)
	for _, n := range h.nodes {
		h.halt(n, violated)
	}
	time.Sleep(5 * h.ttl) // what is still on the wire lands
	synctest.Wait()
	if err := h.store.Close(); err != nil {
		violated(err.Error())
	}
}

func (h *history) prepare(n *node, i uint64, violated func(string)) {
	n.link.store, n.clocks.origin = h.store, time.Now()
	var store tenure.Store = n.link
	if n.id[len(n.id)-1] == 'w' {
		store = pushing{n.link}
	}
	c, err := tenure.New(store, election, tenure.WithID(n.id), tenure.WithTTL(h.ttl), tenure.WithDrain(h.drain),
		tenure.WithClockError(clockError), tenure.WithClock(n.clocks.read), tenure.WithRandom(rand.NewPCG(h.seed, i)))
	if err != nil {
		violated(err.Error())
	}
	n.candidate = c
}

func (h *history) start(n *node, violated func(string)) {
	ctx, cancel := context.WithCancel(context.Background())
	n.stop, n.done = cancel, make(chan error, 1)
	go func() {
		n.done <- n.candidate.Run(ctx, func(ctx context.Context, term tenure.Term) error {
			return h.lead(ctx, term, violated)
		})
	}()
}

func (h *history) halt(n *node, violated func(string)) {
	n.stop()
	if err := <-n.done; !errors.Is(err, context.Canceled) {
		violated(fmt.Sprintf("Run of %s returned %v", n.id, err))
	}
}

// lead is the leader work. An overlap of two trusts begins when one of them does, so that is when it is looked for.
func (h *history) lead(ctx context.Context, term tenure.Term, violated func(string)) error {
	h.mu.Lock()
	h.elected++
	for _, other := range h.terms {
		if term.Valid() && other.Valid() {
			violated(fmt.Sprintf("S1: %s leads with token %d while %s leads with %d",
				term.Leader, term.Token, other.Leader, other.Token))
		}
		if term.Token <= other.Token {
			violated(fmt.Sprintf("S2: token %d of %s after %d of %s; %v %v", term.Token, term.Leader, other.Token, other.Leader, term.Valid(), other.Valid()))
		}
	}
	for token := range h.working {
		if term.Valid() {
			violated(fmt.Sprintf("S8: %s leads while the work of token %d goes on", term.Leader, token))
		}
	}
	h.terms, h.working[term.Token] = append(h.terms, term), true
	h.mu.Unlock()
	<-ctx.Done()
	// The context may end a twentieth of the TTL late: no timer runs while a machine is suspended.
	time.Sleep(h.drain*time.Duration(term.Token%8)/8 - h.ttl/20)
	h.mu.Lock()
	delete(h.working, term.Token)
	h.mu.Unlock()
	return nil
}

// disturb does something to a node, or to the election.
func (h *history) disturb(n *node, violated func(string)) {
	ctx, cancel := context.WithTimeout(context.Background(), h.ttl)
	defer cancel()
	switch h.random.IntN(11) {
	case 0, 1:
		n.link.cut.Store(true)
	case 2, 3, 4:
		n.link.cut.Store(false)
	case 5:
		n.clocks.stepped.Add(h.random.Int64N(int64(2*time.Hour)) - int64(time.Hour))
	case 6: // the machine sleeps: mono stands still meanwhile, and here that is so at once
		n.clocks.stepped.Add(h.random.Int64N(int64(2 * h.ttl)))
	case 7:
		_ = n.candidate.Resign(ctx)
	case 8:
		_ = n.candidate.TransferTo(ctx, h.nodes[h.random.IntN(len(h.nodes))].id)
	case 9:
		h.halt(n, violated)
		h.start(n, violated)
	case 10:
		_, _ = tenure.Ask(ctx, h.store, election, tenure.Request{})
	}
}

// heal ends all faults; then somebody has to lead without any help (L4).
func (h *history) heal(violated func(string)) {
	for _, n := range h.nodes {
		n.link.cut.Store(false)
		n.link.mu.Lock()
		n.link.trouble = 0
		n.link.mu.Unlock()
	}
	for range 100 {
		time.Sleep(h.ttl / 20)
		for _, n := range h.nodes {
			if n.candidate.Status().State == tenure.StateLeader {
				return
			}
		}
	}
	violated("L4: nobody leads five leases after everything was healed")
}
