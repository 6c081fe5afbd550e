package bubble

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/sim"
)

var (
	seed      = flag.Uint64("bubble.seed", 0, "seed of the first history; 0: a fresh one")
	histories = flag.Int("bubble.histories", 120, "how many histories")
	trace     = flag.Bool("bubble.trace", false, "print what happens")
)

const (
	election   = "simulated"
	clockError = 0.01
)

// history is one run of a few candidates through random faults.
type history struct {
	seed     uint64
	violated func(string)
	dice     *dice
	ttl      time.Duration
	drain    time.Duration
	watches  bool
	twins    bool // two candidates have one ID

	began   time.Time
	store   *shelf
	nodes   []*node
	referee *referee
	away    sync.WaitGroup // machines that are suspended
}

func newHistory(seed uint64, rateError float64, violated func(string)) *history {
	d := newDice(seed, 0)
	h := &history{
		seed: seed, violated: violated, dice: d,
		ttl:     []time.Duration{time.Second, 10 * time.Second, time.Minute}[d.one(3)],
		watches: d.chance(0.5), twins: d.chance(0.1),
	}
	h.drain = h.ttl / time.Duration(4+d.one(8))
	for i := range 2 + d.one(3) {
		h.nodes = append(h.nodes, newNode(h, i, rateError))
	}
	h.referee = &referee{nodes: h.nodes, violated: violated, acts: map[*act]bool{}}
	return h
}

// play runs the history inside a bubble.
func (h *history) play() {
	h.began = time.Now()
	h.store = &shelf{Store: memory.New(), tell: h.tell}
	h.tell("TTL %v, drain %v, watches %v, twins %v", h.ttl, h.drain, h.watches, h.twins)
	for i, n := range h.nodes {
		id := n.id
		if h.twins && i == 1 {
			id = h.nodes[0].id
		}
		if err := n.build(id, h.watches); err != nil {
			h.violated(err.Error())
			return
		}
	}
	for _, n := range h.nodes {
		n.start()
	}
	watching := h.observe()
	for range 40 {
		time.Sleep(h.dice.upTo(h.ttl))
		h.disturb(h.nodes[h.dice.one(len(h.nodes))])
		h.referee.look()
	}
	h.heal()
	watching()
	for _, n := range h.nodes {
		n.halt()
	}
	time.Sleep(5 * h.ttl) // what is still on the wire lands
	synctest.Wait()
	if err := h.store.Close(); err != nil {
		h.violated(err.Error())
	}
}

// tell prints what happens, and when, if that was asked for.
func (h *history) tell(format string, args ...any) {
	if *trace {
		fmt.Printf("%14v %s\n", time.Since(h.began), fmt.Sprintf(format, args...))
	}
}

// disturb does something to a node, or to the election.
func (h *history) disturb(n *node) {
	ctx, cancel := context.WithTimeout(context.Background(), h.ttl)
	defer cancel()
	fault := h.dice.one(16)
	h.tell("fault %d at %s", fault, n.id)
	switch fault {
	case 0, 1:
		n.link.cut.Store(true)
	case 2, 3, 4:
		n.link.cut.Store(false)
	case 5:
		n.clocks.step(h.dice)
	case 6, 7:
		d := h.dice.upTo(3 * h.ttl)
		h.away.Go(func() { n.suspend(d) })
	case 8:
		after := h.dice.upTo(2 * h.drain)
		h.away.Go(func() {
			time.Sleep(after)
			n.clocks.step(h.dice) // a drain is where it hurts
		})
		n.judge(n.candidate.Resign(ctx))
	case 9:
		if to := h.nodes[h.dice.one(len(h.nodes))].candidate.ID(); to != n.candidate.ID() {
			n.judge(n.candidate.TransferTo(ctx, to))
		}
	case 10, 11:
		n.halt()
		n.start()
	case 12:
		n.company.sick.Store(h.dice.chance(0.5))
	case 13:
		_, err := tenure.Ask(ctx, n.operator, election, tenure.Request{})
		n.judge(err)
	case 14:
		_, err := tenure.SetPause(ctx, n.operator, election, tenure.Pause{By: "the history"})
		n.judge(err)
		time.Sleep(h.dice.upTo(h.ttl))
		_, err = tenure.LiftPause(context.Background(), h.store, election)
		n.judge(err)
	case 15:
		n.judge(tenure.Forget(ctx, n.operator, election))
	}
}

// heal ends all faults, and waits for the last of them to end. Then somebody has to lead without any help (L4).
func (h *history) heal() {
	for _, n := range h.nodes {
		n.link.cut.Store(false)
		n.link.healed.Store(true)
		n.operator.healed.Store(true)
		n.company.healed.Store(true)
	}
	if _, err := tenure.LiftPause(context.Background(), h.store, election); err != nil {
		h.violated(err.Error())
	}
	h.away.Wait()
	time.Sleep(4 * h.ttl)
	for range 100 {
		time.Sleep(h.ttl / 20)
		for _, n := range h.nodes {
			if n.candidate.State() == tenure.StateLeader {
				return
			}
		}
	}
	h.violated("L4: nobody leads five leases after everything was healed")
}

// observe follows the election over a troubled link of its own. The function that it returns checks what was seen last,
// and ends it.
func (h *history) observe() (check func()) {
	ctx, cancel := context.WithCancel(context.Background())
	l := &link{store: h.store, dice: newDice(h.seed, 300), ttl: h.ttl, trouble: h.dice.random.Float64() / 3}
	var store tenure.Store = l
	if h.watches {
		store = pushing{l}
	}
	var mu sync.Mutex
	var last tenure.Change
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			for change, err := range tenure.Observe(ctx, store, election) {
				if err != nil {
					continue
				}
				mu.Lock()
				if change.Kind != tenure.ChangeLost && change.Kind != tenure.ChangeFirst && change.Record.Token < last.Record.Token {
					h.violated(fmt.Sprintf("the observer saw %v of token %d after %d", change.Kind, change.Record.Token, last.Record.Token))
				}
				last = change
				mu.Unlock()
			}
			_ = pause(ctx, h.ttl/10)
		}
	}()
	return func() {
		l.healed.Store(true)
		time.Sleep(6*h.ttl + time.Minute) // after failures it looks less often
		now, err := h.store.Load(context.Background(), election)
		time.Sleep(h.ttl)
		mu.Lock()
		if err != nil || last.Record.Token < now.Record.Token {
			h.violated(fmt.Sprintf("the observer has not seen token %d for a lease, but %d (%v)",
				now.Record.Token, last.Record.Token, err))
		}
		mu.Unlock()
		cancel()
		<-ended
	}
}

// TestHistories checks S1, S2 and S8 at everything that is done in a leader's name, L4 at the end of every history, and
// that nothing of a candidate is left when Stop has returned.
func TestHistories(t *testing.T) {
	first := *seed
	if first == 0 {
		first = sim.FreshSeed()
	}
	terms := 0
	for i := range uint64(*histories) {
		terms += run(t, first+i)
		if t.Failed() {
			t.Fatalf("replay: go test ./sim/bubble -run TestHistories -bubble.seed %d -bubble.histories 1 -v", first+i)
		}
	}
	t.Logf("%d histories from seed %d with %d terms", *histories, first, terms)
	if terms < 3**histories {
		t.Errorf("only %d terms: the histories are too quiet to show anything", terms)
	}
}

func run(t *testing.T, seed uint64) (terms int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(seed, clockError, func(violation string) { t.Errorf("seed %d: %s", seed, violation) })
		h.play()
		terms = h.referee.terms
	})
	return terms
}

// A checker that has never failed proves nothing: clocks far beyond the bound must be seen to break S1.
func TestClocksBeyondTheBoundAreSeenToFail(t *testing.T) {
	for i := range uint64(200) {
		var mu sync.Mutex
		var overlap bool
		synctest.Test(t, func(*testing.T) {
			newHistory(i, 0.5, func(violation string) {
				mu.Lock()
				defer mu.Unlock()
				overlap = overlap || strings.HasPrefix(violation, "S1")
			}).play()
		})
		if overlap {
			return
		}
	}
	t.Error("no overlap was found in 200 histories with clocks that are wrong by half")
}
