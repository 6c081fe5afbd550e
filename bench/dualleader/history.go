package dualleader

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Samples is how often in a lease all processes are asked whether they lead.
const Samples = 500

// processes is how many stand in a history.
const processes = 3

// Outcome is what one history showed.
type Outcome struct {
	// Worst is the longest time for which two processes led at once, Total is all such time together. An answer at one
	// instant counts as the time between two.
	Worst, Total time.Duration
	// Struck is whether a process led when the fault was to begin; without that the history shows nothing.
	Struck bool
	// Led is the share of all instants at which somebody led; Writes is how many writes succeeded.
	Led    float64
	Writes int
}

// Dual tells whether two processes led at once.
func (o Outcome) Dual() bool { return o.Total > 0 }

// History is one election of a few processes, with one fault.
type History struct {
	random *rand.Rand
	lease  time.Duration
	server Server
	clock  *Clock // of the server
	nodes  []*Node
	all    []Process
	gone   []bool // processes that were stopped

	outcome   Outcome
	lasting   time.Duration // of the overlap that goes on
	asked, so int           // instants at which processes were asked, and at which one led
}

// Play runs a history in a bubble of its own.
func Play(t *testing.T, p *Peer, f *Fault, seed uint64) (o Outcome) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		h := newHistory(p, seed)
		f.prepare(h)
		h.begin()
		if h.Await(6*h.lease, func() bool { return h.Leader() >= 0 }) {
			h.Run(h.upTo(h.lease) + h.lease/2)
			if h.outcome.Struck = h.Leader() >= 0; h.outcome.Struck {
				f.strike(h)
			}
		}
		h.end()
		o = h.outcome
	})
	return o
}

func newHistory(p *Peer, seed uint64) *History {
	h := &History{random: rand.New(rand.NewPCG(seed, 0xd0a1)), lease: p.Lease, clock: newClock()}
	h.server = p.Serve(h.clock)
	for i := range processes {
		id := "process-" + strconv.Itoa(i)
		h.nodes = append(h.nodes, &Node{
			Election: election, Identity: id, Link: newLink(seed, uint64(i)), Clock: newClock(), Seed: seed<<8 | uint64(i),
			Lease: p.Lease, Variant: seed%2 == 1,
		})
	}
	return h
}

func (h *History) begin() {
	for _, n := range h.nodes {
		h.all, h.gone = append(h.all, h.server.Start(n)), append(h.gone, false)
		time.Sleep(h.upTo(h.lease / 10))
	}
}

// end heals everything and lets all processes leave.
func (h *History) end() {
	if h.asked > 0 {
		h.outcome.Led = float64(h.so) / float64(h.asked)
	}
	var stopping sync.WaitGroup
	for i, p := range h.all {
		h.outcome.Writes += h.nodes[i].Link.Written()
		h.nodes[i].Link.Thaw()
		h.nodes[i].Link.Heal()
		if !h.gone[i] {
			stopping.Go(func() {
				time.Sleep(h.lease) // what was under way settles
				p.Stop()
			})
		}
	}
	stopping.Wait()
	time.Sleep(2 * h.lease)
	for _, n := range h.nodes {
		n.Link.Close()
	}
	h.server.Close()
}

// upTo draws a time.
func (h *History) upTo(d time.Duration) time.Duration {
	return time.Duration(h.random.Int64N(int64(d)))
}

// Run lets time pass, and looks who leads.
func (h *History) Run(d time.Duration) {
	h.Await(d, func() bool { return false })
}

// Await lets time pass until a condition holds, and reports whether it came to that.
func (h *History) Await(d time.Duration, holds func() bool) bool {
	step := h.lease / Samples
	for ; d > 0; d -= step {
		if holds() {
			return true
		}
		time.Sleep(step)
		synctest.Wait()
		h.Look()
	}
	return holds()
}

// Look asks all processes at one instant.
func (h *History) Look() {
	leading := 0
	for i, p := range h.all {
		if !h.nodes[i].frozen.Load() && p.Leads() {
			leading++
		}
	}
	h.asked++
	if leading > 0 {
		h.so++
	}
	if leading < 2 {
		h.lasting = 0
		return
	}
	step := h.lease / Samples
	h.lasting += step
	h.outcome.Total += step
	h.outcome.Worst = max(h.outcome.Worst, h.lasting)
}

// Leader is the index of a process that leads, -1 if none does.
func (h *History) Leader() int {
	for i, p := range h.all {
		if !h.nodes[i].frozen.Load() && p.Leads() {
			return i
		}
	}
	return -1
}

// Stop has a process leave, while the history goes on.
func (h *History) Stop(i int) {
	h.gone[i] = true
	go h.all[i].Stop()
}
