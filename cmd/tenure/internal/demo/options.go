package demo

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// MaxNodes is the largest number of nodes in a demo.
const MaxNodes = 32

// Options are what a demo is made of. All fields but Unsafe and Remove are needed.
type Options struct {
	// Nodes is how many processes stand for election, 1 to [MaxNodes].
	Nodes int
	// For is how long leaders are tormented.
	For time.Duration
	// TTL is that of the nodes' leases.
	TTL time.Duration
	// Seed makes the order of the faults, and how long they last, the same again.
	Seed uint64
	// Faults are those that are drawn.
	Faults []Fault
	// Unsafe has the nodes remember that they lead, instead of asking. The check must then find overlaps.
	Unsafe bool

	// Store is the URL of the store, which Open opens.
	Store string
	Open  Opener
	// Election is the name of the election.
	Election string
	// Remove is a directory that the nodes remove if the demo dies and cannot.
	Remove string
	// Program is the command line of a process that calls [Node].
	Program []string
	// Display shows what happens.
	Display Display
}

// Check refuses what cannot be run, before anything is started or made.
func (o Options) Check() error {
	switch {
	case o.Nodes < 1 || o.Nodes > MaxNodes:
		return fmt.Errorf("%w: %d nodes: want 1 to %d", tenure.ErrConfig, o.Nodes, MaxNodes)
	case o.For <= 0:
		return fmt.Errorf("%w: a demo of %v: want more than 0s", tenure.ErrConfig, o.For)
	case o.Nodes == 1 && !slices.ContainsFunc(o.Faults, Fault.worksAlone):
		return fmt.Errorf("%w: a single node: want a fault besides %s", tenure.ErrConfig, join(o.Faults))
	}
	return nil
}
