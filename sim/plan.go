package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Kind is a family of histories.
type Kind uint8

// The kinds. In the last two safety may fail, and has to be seen to fail: a checker that never fails proves nothing.
const (
	Mix      Kind = iota // every fault that the protocol has to survive
	BeyondE              // clocks whose rates err by far more than the bound
	Snapshot             // virtual machines whose clocks all stand still
)

var kindNames = [...]string{"mix", "beyond", "snapshot"}

// String returns the kind's name on the command line.
func (k Kind) String() string { return kindNames[k] }

// Style is what leader work does.
type Style uint8

// The styles of work.
const (
	Obedient  Style = iota // returns within the drain
	Prompt                 // returns at once
	Deaf                   // ignores its context and overruns
	Brief                  // returns by itself while the term stands
	Handed                 // no function: somebody asked and was told that it leads
	HandedEnd              // the same, but says when its work is done
	numStyles
)

// NodePlan is one process.
type NodePlan struct {
	Config protocol.Config // without Session
	Styles []Style         // of its terms, chosen at random
	NoBoot bool
	// Errors of the monotonic, wall and boot clocks' rates, in millionths.
	Mono, Wall, Boot int64
}

// Plan is what a history is made of, drawn from its seed.
type Plan struct {
	Kind  Kind
	Nodes []NodePlan

	// The store.
	Push    bool          // it pushes changes
	Vouch   bool          // it vouches for the death of processes
	TTLUnit time.Duration // of which it keeps whole multiples
	Token   uint64        // of the record, or the floor, that it starts with
	Record  bool          // there is a vacant record to begin with
	Forks   bool          // it may lose acknowledged writes

	BrokenWatch bool // once the faults have healed no watch can be set up, which everybody is told all the time
	Absurd      bool // a TTL that is edited by hand is one that overflows

	// The network and the processes.
	OneWayMin, OneWayMax time.Duration
	MailboxLag, TimerLag time.Duration
	PushSpread           time.Duration // pushes are late by up to this, and overtake one another
	AskEvery             time.Duration
	ReadsBoot            bool // readers ask the boot clock too
	QuitsOnPermanent     bool // a permanent error stops the candidate

	// The chances of faults that strike single messages.
	Message [numMessageFaults]float64
	// The faults that strike every FaultEvery or so, and for how long there are any.
	Faults     []Fault
	FaultEvery time.Duration
	Chaos      time.Duration

	Finale Finale
}

// longest is the longest TTL of all.
func (p *Plan) longest() time.Duration {
	var d time.Duration
	for i := range p.Nodes {
		d = max(d, p.Nodes[i].Config.TTL)
	}
	return d
}

var (
	nodeIDs      = [...]string{"a", "b", "c", "d", "e", "f"}
	ttls         = [...]time.Duration{time.Second, 3 * time.Second, 10 * time.Second}
	clockErrors  = [...]float64{0, 0.001, 0.01, 0.01, 0.05, protocol.MaxClockError}
	messageRates = [...]float64{0.02, 0.1, 0.3}
)

// draw fills in the plan of a random history of that kind.
func (p *Plan) draw(r *random, kind Kind) {
	*p = Plan{Kind: kind, Nodes: p.Nodes[:0], Faults: p.Faults[:0]}
	ttl := pick(r, ttls[:]...)
	p.drawStore(r)
	p.drawNodes(r, ttl)
	p.drawNetwork(r, ttl)
	p.drawFaults(r)
	p.Chaos = r.scaled(p.longest(), 3, 9)
	p.FaultEvery = r.scaled(p.longest(), 0.1, 1.5)
	p.Finale = Finale(r.n(int(numFinales)))
}

func (p *Plan) drawStore(r *random) {
	p.Push = r.chance(0.6)
	p.Vouch = p.Kind == Mix && r.chance(0.15)
	p.Forks = p.Kind == Mix && r.chance(0.3)
	p.Record = r.chance(0.3)
	p.QuitsOnPermanent = r.chance(0.5)
	p.BrokenWatch = p.Push && r.chance(0.1)
	p.Absurd = r.chance(0.2)
	switch {
	case r.chance(0.02):
		p.Token = protocol.MaxToken - uint64(r.n(8))
	case r.chance(0.5):
		p.Token = uint64(r.n(50))
	}
}

func (p *Plan) drawNodes(r *random, ttl time.Duration) {
	e := pick(r, clockErrors[:]...)
	mixed, priorities, equal := r.chance(0.3), r.chance(0.2), r.chance(0.15)
	errs, grain := r.chance(0.3), pick(r, 0, 0, 0, ttl/10_000, ttl/5000)
	for i := range 2 + r.n(4) {
		var n NodePlan
		if errs {
			e = pick(r, clockErrors[:]...)
		}
		if mixed {
			n.Config = drawConfig(r, pick(r, ttls[:]...), e, min(grain, ttls[0]/5000), p.Push)
		} else {
			n.Config = drawConfig(r, ttl, e, grain, p.Push)
		}
		n.Config.ID = nodeIDs[i]
		if equal && i == 1 {
			n.Config.ID = nodeIDs[0]
		}
		if priorities {
			n.Config.PriorityDelay = time.Duration(i) * r.between(0, n.Config.TTL/10)
		}
		n.NoBoot = r.chance(0.2)
		n.Styles = styles[r.n(len(styles))]
		p.drawRates(r, &n, e)
		p.Nodes = append(p.Nodes, n)
	}
	if r.chance(0.03) {
		p.TTLUnit = time.Second
		c := &p.Nodes[0].Config
		c.TTL += c.TTL / 7 / time.Millisecond * time.Millisecond
	}
}

// styles are the mixes of work that a process may do.
var styles = [][]Style{
	{Obedient},
	{Obedient},
	{Prompt},
	{Handed},
	{HandedEnd, Handed},
	{Deaf, Obedient},
	{Brief, Obedient},
	{Obedient, Prompt, Deaf, Brief, Handed, HandedEnd},
}

// drawRates lets the clocks of a machine err, mostly to the very bound: there the margins of the lease are tested.
func (p *Plan) drawRates(r *random, n *NodePlan, e float64) {
	bound := int64(e * millionth)
	if p.Kind == BeyondE {
		bound = int64(e*millionth)*3 + 150_000
	}
	rate := func() int64 { return pick(r, -bound, bound, -bound, bound, 0, int64(r.n(int(2*bound+1)))-bound) }
	n.Mono = rate()
	n.Wall, n.Boot = n.Mono, n.Mono
	if r.chance(0.2) {
		n.Wall, n.Boot = rate(), rate()
	}
}

// drawConfig returns a configuration that is safe by its own count, not by that of Config.Check.
func drawConfig(r *random, ttl time.Duration, e float64, grain time.Duration, push bool) protocol.Config {
	c := protocol.Config{
		TTL: ttl, ClockError: e, Grain: grain, Watch: push, Release: r.chance(0.9), HealthChecked: r.chance(0.2),
	}
	c.Drain = pick(r, ttl/100, ttl/100, ttl/10, ttl/5, ttl/3)
	c.RenewEvery = pick(r, ttl/3, ttl/3, ttl/4)
	room := (leaseSpan(c) - c.Drain - c.RenewEvery) / 2
	c.CallTimeout = pick(r, min(ttl/6, room), min(ttl/12, room), room)
	c.PollEvery = pick(r, ttl/5, ttl/3, ttl)
	c.Backoff = protocol.Backoff{
		Initial: ttl / time.Duration(pick(r, 10, 50)), Max: pick(r, ttl/4, ttl), Factor: pick(r, 1, 1.5, 2),
		Jitter: pick(r, 0, 0.5, 1),
	}
	c.BidSpread = pick(r, 0, 0, ttl/20)
	c.MaxFailures = pick(r, 0, 0, 0, 3)
	return c
}

// leaseSpan is the time that a lease lasts by its holder's clock, counted in whole millionths.
func leaseSpan(c protocol.Config) time.Duration {
	return c.TTL - time.Duration(int64(c.ClockError*millionth+0.5)*int64(c.TTL)/millionth) - c.Grain
}

func (p *Plan) drawNetwork(r *random, ttl time.Duration) {
	p.OneWayMax = pick(r, time.Microsecond, time.Microsecond, ttl/1000, ttl/100)
	p.OneWayMin = pick(r, 0, p.OneWayMax/2)
	for i := range p.Nodes {
		p.OneWayMax = min(p.OneWayMax, p.Nodes[i].Config.CallTimeout/4)
	}
	p.OneWayMin = min(p.OneWayMin, p.OneWayMax)
	if r.chance(0.2) {
		p.MailboxLag = r.between(0, ttl/20)
	}
	if r.chance(0.2) {
		p.TimerLag = r.between(0, ttl/50)
	}
	if p.Push && r.chance(0.3) {
		p.PushSpread = r.between(0, pick(r, ttl/50, ttl/2, 2*ttl))
	}
	p.AskEvery = r.scaled(ttl, 0.05, 0.5)
}

// drawFaults chooses which faults there are at all in this history: with all of them in each, few would get far.
func (p *Plan) drawFaults(r *random) {
	p.ReadsBoot = r.chance(0.5)
	if r.chance(0.1) {
		return
	}
	few := r.chance(0.5)
	for f := range numMessageFaults {
		if r.chance(0.25) && !(few && r.chance(0.7)) {
			p.Message[f] = pick(r, messageRates[:]...)
		}
	}
	p.Message[CrashInStep] /= 20 // there are many steps
	for f := range numFaults {
		if faults[f].forks && !p.Forks || faults[f].push && !p.Push || f == VMSnapshot && p.Kind != Snapshot {
			continue
		}
		if r.chance(0.4) && !(few && r.chance(0.7)) || f == VMSnapshot {
			p.Faults = append(p.Faults, f)
		}
	}
	p.keepOneClock()
}

// keepOneClock removes what would take a suspended process its last running clock: without one that counts the
// suspension there is only the wall clock, and somebody who sets it back at the same time. S1 excludes that.
func (p *Plan) keepOneClock() {
	blind := !p.ReadsBoot
	for i := range p.Nodes {
		blind = blind || p.Nodes[i].NoBoot
	}
	if !blind || !p.has(Suspend) || !p.has(WallStep) {
		return
	}
	kept := p.Faults[:0]
	for _, f := range p.Faults {
		if f != WallStep {
			kept = append(kept, f)
		}
	}
	p.Faults = kept
}

func (p *Plan) has(f Fault) bool {
	for _, other := range p.Faults {
		if other == f {
			return true
		}
	}
	return false
}

// Names made in advance, so that a history allocates none.
var versionNames, sessionNames = names("v", 4096), names("s", 256)

func names(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + strconv.Itoa(i)
	}
	return list
}

func name(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return list[0][:1] + strconv.Itoa(i)
}

// ParseKind returns the kind of that name.
func ParseKind(name string) (Kind, error) {
	for k, other := range kindNames {
		if other == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("there is no kind of histories named %q: mix, beyond or snapshot", name)
}
