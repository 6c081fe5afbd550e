package bubble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
)

// node is one process with a candidate, on a machine with clocks of its own.
type node struct {
	h         *history
	id        string // for people; the candidate's ID may be that of another, too
	dice      *dice
	link      *link
	operator  *link // of whoever sits at the same machine
	clocks    *clocks
	company   *company
	candidate *tenure.Candidate

	quit    func()        // ends what start has begun
	done    chan struct{} // closed when it has ended
	leaving atomic.Bool   // no other way is begun

	asleep atomic.Bool
	mu     sync.Mutex
	waking chan struct{} // closed when the machine wakes; nil while it is awake

	began *act // of the observer, which no other goroutine is
}

func newNode(h *history, i int, clockError float64) *node {
	d := newDice(h.seed, uint64(i)+1)
	n := &node{
		h: h, id: fmt.Sprint("n", i), dice: d,
		link:   &link{dice: newDice(h.seed, uint64(i)+100), ttl: h.ttl, trouble: d.random.Float64() / 3},
		clocks: &clocks{rate: 1 + (2*d.random.Float64()-1)*clockError, counts: d.chance(0.5)},
	}
	n.operator = &link{dice: newDice(h.seed, uint64(i)+400), ttl: h.ttl, trouble: n.link.trouble}
	n.link.awake = n.awake
	n.company = newCompany(newDice(h.seed, uint64(i)+200), h.ttl)
	return n
}

// build makes the candidate, inside the bubble.
func (n *node) build(candidateID string, watches bool) error {
	n.link.store, n.operator.store, n.clocks.origin = n.h.store, n.h.store, time.Now()
	var store tenure.Store = n.link
	if watches {
		store = pushing{n.link}
	}
	options := append(n.company.options(),
		tenure.WithID(candidateID), tenure.WithTTL(n.h.ttl), tenure.WithDrain(n.h.drain),
		tenure.WithClockError(clockError), tenure.WithClock(n.clocks.read), tenure.WithObserver(n.observe),
		tenure.WithRandom(rand.NewPCG(n.h.seed, n.dice.random.Uint64())))
	c, err := tenure.New(store, election, options...)
	n.candidate = c
	return err
}

// awake returns when the machine is.
func (n *node) awake() {
	for {
		n.mu.Lock()
		waking := n.waking
		n.mu.Unlock()
		if waking == nil {
			return
		}
		<-waking
	}
}

// suspend has the machine sleep for so long. What anybody asks first when it wakes is whether it leads.
func (n *node) suspend(d time.Duration) {
	if !n.fallAsleep() {
		return
	}
	n.h.tell("%s sleeps for %v", n.id, d)
	time.Sleep(d)
	n.h.tell("%s wakes", n.id)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clocks.thaw()
	n.asleep.Store(false)
	n.h.referee.look()
	close(n.waking)
	n.waking = nil
}

func (n *node) fallAsleep() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waking != nil {
		return false
	}
	n.waking = make(chan struct{})
	n.asleep.Store(true)
	n.clocks.freeze()
	n.h.referee.suspended(n)
	return true
}

// act asks, and begins to act if the answer is yes; nil if it is no. No suspension comes between the two.
func (n *node) act(by string, ask func() (tenure.Term, bool)) *act {
	for {
		n.awake()
		if a, asked := n.actNow(by, ask); asked {
			return a
		}
	}
}

// actNow asks unless the machine is suspended.
func (n *node) actNow(by string, ask func() (tenure.Term, bool)) (a *act, asked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waking != nil {
		return nil, false
	}
	if term, ok := ask(); ok {
		a = n.h.referee.begin(n, term, by)
	}
	return a, true
}

// start has the node stand, in one of the ways that there are, until halt.
func (n *node) start() {
	ctx, cancel := context.WithCancel(context.Background())
	n.quit, n.done = cancel, make(chan struct{})
	n.leaving.Store(false)
	way := ways[n.dice.one(len(ways))]
	go func() {
		defer close(n.done)
		for !n.leaving.Load() {
			n.judge(way(n, ctx))
			n.judge(n.candidate.Stop(context.Background())) // not all of it may have returned yet
			_ = pause(ctx, n.dice.upTo(n.h.ttl/10)+1)
		}
	}()
}

// judge looks at what a way has ended with: nothing here is wrongly configured, or called at the wrong time.
func (n *node) judge(err error) {
	for _, wrong := range []error{tenure.ErrRunning, tenure.ErrConfig, tenure.ErrGrade} {
		if errors.Is(err, wrong) {
			n.h.violated(fmt.Sprintf("%s came to its end by %v", n.id, err))
		}
	}
}

// halt stops the candidate, and believes what Stop says. It is for the history's own goroutine.
func (n *node) halt() {
	n.awake()
	n.leaving.Store(true)
	synctest.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if n.dice.chance(0.5) {
		cancel()
	}
	err := n.candidate.Stop(ctx)
	if errors.Is(err, tenure.ErrNotReturned) {
		err = n.candidate.Stop(context.Background())
	}
	n.judge(err)
	if !errors.Is(err, tenure.ErrOverran) {
		n.mustBeAtRest()
	}
	n.quit()
	<-n.done
	n.mustBeAtRest()
}

// mustBeAtRest checks that nothing of the candidate runs: no call, no callback, no leader work.
func (n *node) mustBeAtRest() {
	if calls, others := n.link.inside.Load(), n.company.inside.Load(); calls+others > 0 {
		n.h.violated(fmt.Sprintf("%s has stopped, and %d calls to the store and %d others run", n.id, calls, others))
	}
	if !n.h.referee.idle(n) {
		n.h.violated(n.id + " has stopped, and its leader work runs")
	}
}

// pause sleeps until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
