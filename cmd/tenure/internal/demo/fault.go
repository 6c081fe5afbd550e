package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Fault is something that is done to the nodes.
type Fault string

// The faults.
const (
	// Kill is kill -9 of the leader.
	Kill Fault = "kill"
	// Freeze is SIGSTOP of the leader for longer than its lease, and SIGCONT.
	Freeze Fault = "freeze"
	// Blink is SIGSTOP of the leader for less than its TTL, and SIGCONT.
	Blink Fault = "blink"
	// Resign asks the leader through the store to resign.
	Resign Fault = "resign"
	// Transfer asks the leader through the store to transfer the seat to a certain node.
	Transfer Fault = "transfer"
	// Stop has the leader's process end in an orderly way, as for an upgrade.
	Stop Fault = "stop"
	// Follower is kill -9 of a node that does not lead.
	Follower Fault = "follower"
	// Pause pauses the election for a while.
	Pause Fault = "pause"
)

// worksAlone reports whether the fault needs no node besides the leader.
func (f Fault) worksAlone() bool { return f != Transfer && f != Follower }

// weights are how many of each fault are in the deck.
var weights = []struct {
	fault Fault
	cards int
}{
	{Kill, 3}, {Freeze, 2}, {Blink, 1}, {Resign, 2}, {Transfer, 2}, {Stop, 2}, {Follower, 1}, {Pause, 1},
}

// Faults returns all faults that this system is capable of.
func Faults() []Fault {
	var all []Fault
	for _, w := range weights {
		if canFreeze || w.fault != Freeze && w.fault != Blink {
			all = append(all, w.fault)
		}
	}
	return all
}

// ParseFaults returns the faults with the given names; without names, all.
func ParseFaults(names []string) ([]Fault, error) {
	known := Faults()
	if len(names) == 0 {
		return known, nil
	}
	var faults []Fault
	for _, name := range names {
		if !slices.Contains(known, Fault(name)) {
			return nil, fmt.Errorf("there is no fault %q here: want some of %s", name, join(known))
		}
		faults = append(faults, Fault(name))
	}
	return faults, nil
}

func join(faults []Fault) string {
	names := make([]string, len(faults))
	for i, f := range faults {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// deck deals faults at random, each as often as its weight before any comes again.
type deck struct {
	of     []Fault
	random *rand.Rand
	left   []Fault
}

// deal returns the next fault that is possible now; false if none is.
func (d *deck) deal(possible func(Fault) bool) (Fault, bool) {
	if !slices.ContainsFunc(d.left, possible) {
		d.left = d.shuffled() // what was left is not possible for now, and comes again with the rest
	}
	i := slices.IndexFunc(d.left, possible)
	if i < 0 {
		return "", false
	}
	fault := d.left[i]
	d.left = slices.Delete(d.left, i, i+1)
	return fault, true
}

func (d *deck) shuffled() []Fault {
	var cards []Fault
	for _, w := range weights {
		if slices.Contains(d.of, w.fault) {
			cards = append(cards, slices.Repeat([]Fault{w.fault}, w.cards)...)
		}
	}
	d.random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return cards
}
