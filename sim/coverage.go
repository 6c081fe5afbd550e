package sim

import (
	"fmt"
	"io"
	"sort"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Point is something that a history may contain beside faults, inputs and effects.
type Point uint8

// The points.
const (
	TwoTerms Point = iota
	FiveTerms
	ExcusedOverlap // that a store which lost writes explains
	RefusedTrust   // somebody asked and found the trust over
	VacatedDoubt   // a seat was vacated since a bid for it was in doubt
	TookLower      // a seat was taken after the store went back
	Reconfigured   // a process started with another configuration
	EqualIDs
	MixedTTL
	NoBootClock
	Vouching
	RoundingStore
	LastTokens
	SlowMailbox
	SlowTimer
	LatePushes
	WentOnLower   // a leader went on from what the store went back to
	TwinOverlap   // that a copy made not long ago explains
	MisledOverlap // that a TTL shortened by hand explains
	ForgotSilent
	BrokenWatches
	MixedErrors
	CoarseClocks
	numPoints
)

var pointNames = [numPoints]string{
	"two terms or more", "five terms or more", "overlap that a loss of writes excuses", "trust refused to a reader",
	"seat vacated for a bid in doubt", "seat taken after the store went back", "another configuration on restart",
	"equal IDs", "different TTLs", "no boot clock", "store vouches for death", "store rounds the TTL",
	"tokens near the largest", "slow mailbox", "slow timer", "late pushes",
	"leader went on after the store went back", "overlap of copies", "overlap that a shortened TTL explains",
	"silent leader forgotten", "no watch can be set up",
	"different clock errors", "coarse clocks",
}

// Coverage is what a history contained.
type Coverage struct {
	faults, messages, inputs, effects, states, causes, outcomes, purposes, styles, finales uint64
	points                                                                                 uint64
	shares                                                                                 [numRules]float64
}

func (c *Coverage) fault(f Fault)               { c.faults |= 1 << f }
func (c *Coverage) message(f MessageFault)      { c.messages |= 1 << f }
func (c *Coverage) input(k protocol.Kind)       { c.inputs |= 1 << k }
func (c *Coverage) state(s protocol.State)      { c.states |= 1 << s }
func (c *Coverage) cause(x protocol.Cause)      { c.causes |= 1 << x }
func (c *Coverage) outcome(o protocol.Outcome)  { c.outcomes |= 1 << o }
func (c *Coverage) style(s Style)               { c.styles |= 1 << s }
func (c *Coverage) finale(f Finale)             { c.finales |= 1 << f }
func (c *Coverage) mark(p Point)                { c.points |= 1 << p }
func (c *Coverage) share(r Rule, share float64) { c.shares[r] = max(c.shares[r], share) }

func (c *Coverage) effect(e *protocol.Effect) {
	c.effects |= 1 << e.Do
	if e.Do == protocol.Write {
		c.purposes |= 1 << e.Purpose
	}
}

// coverPlan marks what the plan alone decides.
func (w *World) coverPlan() {
	p, c := &w.plan, &w.Coverage
	when := func(is bool, point Point) {
		if is {
			c.mark(point)
		}
	}
	when(p.Vouch, Vouching)
	when(p.TTLUnit > 0, RoundingStore)
	when(p.Token > protocol.MaxToken/2, LastTokens)
	when(p.MailboxLag > 0, SlowMailbox)
	when(p.TimerLag > 0, SlowTimer)
	when(p.PushSpread > 0, LatePushes)
	when(p.BrokenWatch, BrokenWatches)
	when(p.Nodes[0].Config.Grain > 0, CoarseClocks)
	for i := range p.Nodes {
		when(p.Nodes[i].NoBoot, NoBootClock)
		when(p.Nodes[i].Config.ClockError != p.Nodes[0].Config.ClockError, MixedErrors)
		when(p.Nodes[i].Config.TTL != p.Nodes[0].Config.TTL, MixedTTL)
		when(i > 0 && p.Nodes[i].Config.ID == p.Nodes[0].Config.ID, EqualIDs)
	}
}

// Tally counts in how many histories each thing occurred.
type Tally struct {
	Histories, Events, Terms, Steps int
	counts                          [numTables][64]int
	shares                          [numRules]float64
}

// The tables of a tally.
const (
	tableFaults = iota
	tableMessages
	tableInputs
	tableEffects
	tableStates
	tableCauses
	tableOutcomes
	tablePurposes
	tableStyles
	tableFinales
	tablePoints
	numTables
)

var styleNames = [numStyles]string{
	"returns in time", "returns at once", "ignores its context", "returns by itself", "handed out", "handed out, ends",
}

var causeNames = [...]string{"lease expired", "deposed", "resigned", "sick", "stopped", "revoked"}

// tables names what is counted, and how many of each there are.
var tables = [numTables]struct {
	name string
	size int
	item func(int) string
}{
	tableFaults:   {"fault", int(numFaults), func(i int) string { return Fault(i).String() }},
	tableMessages: {"message", int(numMessageFaults), func(i int) string { return MessageFault(i).String() }},
	tableInputs:   {"input", int(protocol.Distrust) + 1, func(i int) string { return protocol.Kind(i).String() }},
	tableEffects:  {"effect", int(protocol.Done) + 1, func(i int) string { return protocol.Do(i).String() }},
	tableStates:   {"state", int(protocol.Overrun) + 1, func(i int) string { return protocol.State(i).String() }},
	tableCauses:   {"end of a term", len(causeNames), func(i int) string { return causeNames[i] }},
	tableOutcomes: {"outcome", int(protocol.Unknown) + 1, func(i int) string { return protocol.Outcome(i).String() }},
	tablePurposes: {"write", int(protocol.Release) + 1, func(i int) string { return protocol.Purpose(i).String() }},
	tableStyles:   {"work", int(numStyles), func(i int) string { return styleNames[i] }},
	tableFinales:  {"finale", int(numFinales), func(i int) string { return finaleNames[i] }},
	tablePoints:   {"point", int(numPoints), func(i int) string { return pointNames[i] }},
}

// Add counts a history.
func (t *Tally) Add(w *World) {
	t.Histories++
	t.Events += w.events
	t.Terms += len(w.terms)
	if len(w.terms) >= 2 {
		w.Coverage.mark(TwoTerms)
	}
	if len(w.terms) >= 5 {
		w.Coverage.mark(FiveTerms)
	}
	c := &w.Coverage
	for i, set := range [numTables]uint64{
		c.faults, c.messages, c.inputs, c.effects, c.states, c.causes, c.outcomes, c.purposes, c.styles, c.finales,
		c.points,
	} {
		for bit := range tables[i].size {
			t.counts[i][bit] += int(set >> bit & 1)
		}
	}
	t.maxShares(&c.shares)
}

func (t *Tally) maxShares(shares *[numRules]float64) {
	for r, s := range shares {
		t.shares[r] = max(t.shares[r], s)
	}
}

// Merge adds another tally.
func (t *Tally) Merge(other *Tally) {
	t.Histories += other.Histories
	t.Events += other.Events
	t.Terms += other.Terms
	for i := range t.counts {
		for j := range t.counts[i] {
			t.counts[i][j] += other.counts[i][j]
		}
	}
	t.maxShares(&other.shares)
}

// Missing returns what never occurred and should have, in histories of the kind Mix.
func (t *Tally) Missing() []string {
	var list []string
	for i := range tables {
		for j := range tables[i].size {
			if t.counts[i][j] == 0 && !(i == tableFaults && Fault(j) == VMSnapshot) {
				list = append(list, tables[i].name+": "+tables[i].item(j))
			}
		}
	}
	sort.Strings(list)
	return list
}

// Print writes the counts for people to read.
func (t *Tally) Print(to io.Writer) {
	fmt.Fprintf(to, "%d histories, %d terms, %d events\n", t.Histories, t.Terms, t.Events)
	for i := range tables {
		for j := range tables[i].size {
			fmt.Fprintf(to, "%-14s %-42s %8d\n", tables[i].name, tables[i].item(j), t.counts[i][j])
		}
	}
	for r, share := range t.shares {
		if share > 0 {
			fmt.Fprintf(to, "%-14s %-42s %7.0f%%\n", "bound used", Rule(r).String(), 100*share)
		}
	}
}
