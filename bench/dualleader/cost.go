package dualleader

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/bench"
)

// Cost is what elections cost the process that takes part in them.
type Cost struct {
	Peer *Peer
	// Ask is how long a thousand questions take whether the process leads, Clock how long a thousand readings of the
	// clock do, measured in turn. Both are zero if the library does not answer by itself.
	Ask, Clock time.Duration
	// ReadsClock is whether the answer of a leader that was stopped for one and a half leases is no; Stopped is whether
	// that could be tried.
	ReadsClock, Stopped bool
	// Sizes are what an election takes, by how many of them the process leads.
	Sizes map[int]Size
}

// Crowds are the numbers of elections in one process.
var Crowds = []int{1, 100, 1000, 10000}

// sizeable is how many elections take more memory than comes and goes in a process.
const sizeable = 100

// MeasureCosts measures all libraries, one after the other.
func MeasureCosts(t *testing.T, crowds []int) []Cost {
	t.Helper()
	var all []Cost
	for _, p := range Peers() {
		c := Cost{Peer: p, Sizes: map[int]Size{}}
		c.Ask, c.Clock = measureAsk(t, p)
		c.ReadsClock, c.Stopped = readsClock(t, p)
		for _, n := range crowds {
			c.Sizes[n] = measureSize(t, p, n)
		}
		all = append(all, c)
	}
	return all
}

// alone returns a process without competitors.
func alone(p *Peer, s Server, i int) (*Node, Process) {
	name := election + strconv.Itoa(i)
	n := &Node{
		Election: name, Identity: "process", Link: newLink(1, uint64(i)), Clock: newClock(), Seed: uint64(i), Lease: p.Lease,
	}
	return n, s.Start(n)
}

// measureAsk runs in real time: a bubble's clock is not the system's.
func measureAsk(t *testing.T, p *Peer) (ask, clock time.Duration) {
	t.Helper()
	server := p.Serve(newClock())
	defer server.Close()
	n, process := alone(p, server, 0)
	defer n.Link.Close()
	defer process.Stop()
	asker, ok := process.(Asker)
	if !ok {
		return 0, 0
	}
	for deadline := time.Now().Add(time.Minute); !asker.Ask(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: nobody leads", p.Name)
		}
	}
	ask, clock = math.MaxInt64, math.MaxInt64
	for range 20 { // the fastest round is the one that was disturbed least
		ask = min(ask, timed(asker.Ask))
		clock = min(clock, timed(func() bool { return time.Now().IsZero() }))
	}
	return ask, clock
}

// timed returns how long a thousand calls take.
func timed(do func() bool) time.Duration {
	const thousands = 20
	start := time.Now()
	yes := 0
	for range thousands * 1000 {
		if do() {
			yes++
		}
	}
	took := time.Since(start)
	runtime.KeepAlive(yes)
	return took / thousands
}

// readsClock stops a leader in the middle of what it does, lets one and a half leases pass, and asks.
func readsClock(t *testing.T, p *Peer) (reads, stopped bool) {
	t.Helper()
	if p.Can&Freezes == 0 {
		return false, false
	}
	synctest.Test(t, func(*testing.T) {
		server := p.Serve(newClock())
		n, process := alone(p, server, 0)
		asker, ok := process.(Asker)
		if ok {
			time.Sleep(p.Lease / 2)
			n.Link.Freeze()
			n.Clock.Freeze()
			time.Sleep(p.Lease * 3 / 2)
			n.Clock.Thaw(true, true)
			reads, stopped = !asker.Ask(), true
			n.Link.Thaw()
		}
		process.Stop()
		n.Link.Close()
		server.Close()
	})
	return reads, stopped
}

// measureSize has a process lead many elections at rest. Of few elections the median of many rounds counts: short-lived
// goroutines leave gaps between the stacks of those that stay.
func measureSize(t *testing.T, p *Peer, elections int) Size {
	t.Helper()
	var bytes, goroutines []float64
	for range min(30, max(1, 1000/elections)) {
		var size Size
		synctest.Test(t, func(*testing.T) { size = leading(p, elections) })
		bytes = append(bytes, size.Bytes)
		goroutines = append(goroutines, size.Goroutines)
	}
	return Size{median(bytes), median(goroutines)}
}

func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// leading is the size of each of many elections that one process leads.
func leading(p *Peer, elections int) Size {
	servers := []Server{p.Serve(newClock())}
	if !p.Holds {
		for range elections - 1 {
			servers = append(servers, p.Serve(newClock()))
		}
	}
	stop := profileAll()
	defer stop()
	before := used()
	nodes, all := make([]*Node, elections), make([]Process, elections)
	for i := range elections {
		nodes[i], all[i] = alone(p, servers[i%len(servers)], i)
	}
	time.Sleep(p.Lease + p.Lease/7)
	synctest.Wait()
	size := used().since(before, elections)
	var stopping sync.WaitGroup
	for i, process := range all {
		stopping.Go(func() {
			process.Stop()
			nodes[i].Link.Close()
		})
	}
	stopping.Wait()
	for _, s := range servers {
		s.Close()
	}
	return size
}

func (r *Report) writeCosts(w io.Writer) {
	if len(r.Costs) == 0 {
		return
	}
	fmt.Fprintf(w, "### What an election costs its process\n\n%s\n\n", costText)
	t := bench.Table{Head: []string{"library", "asking, in readings of the clock", "ns", "reads the clock"}}
	for _, n := range Crowds {
		if n >= sizeable {
			t.Head = append(t.Head, fmt.Sprintf("KiB each of %d", n))
		}
		t.Head = append(t.Head, fmt.Sprintf("goroutines each of %d", n))
	}
	for _, c := range r.Costs {
		t.Add(append([]string{c.Peer.Name}, c.cells()...)...)
	}
	t.Write(w)
}

const costText = `Asking: the library's own answer to whether the process leads, without a call to its store, beside a
reading of the clock; a dash: the library has none. Whether that answer reads the clock is tried: the leader is
stopped for one and a half leases and asked before anything else of it runs; a dash: that cannot be tried here.

Memory and goroutines: one process leads so many elections at rest. Counted are the stacks of all goroutines, which are
the library's and one that the program calls it from, and of the heap what the library allocates. What the harness
allocates is not, by the place of the allocation and for all libraries alike: servers, the network with the calls and
the subscriptions in it, the lines that use the library; nor is what the runtime keeps of goroutines for later ones.
Every election has a client of its own, also of etcd and pglock, whose clients have goroutines that elections of one
process can share. What a single election takes of memory is less than what comes and goes in a process, and cannot be
told.

Where ours is behind: an answer that reads the clock costs a reading of it, and those that cost less are flags, wrong
after every pause. Its memory is that of a candidate with its history, its timers and its session.`

func (c Cost) cells() []string {
	cells := []string{bench.None, bench.None, bench.None}
	if c.Ask > 0 {
		cells[0], cells[1] = bench.Number(bench.Ratio(c.Ask, c.Clock)), bench.Number(c.Ask.Seconds()*1e6)
	}
	if c.Stopped {
		cells[2] = map[bool]string{true: "yes", false: "**no**"}[c.ReadsClock]
	}
	for _, n := range Crowds {
		cells = append(cells, c.sizeCells(n)...)
	}
	return cells
}

func (c Cost) sizeCells(elections int) []string {
	memory, goroutines := bench.None, bench.None
	if size, ok := c.Sizes[elections]; ok {
		memory, goroutines = bench.Number(size.Bytes/1024), bench.Number(size.Goroutines)
	}
	if elections < sizeable {
		return []string{goroutines}
	}
	return []string{memory, goroutines}
}
