package dualleader

import (
	"context"
	"sync/atomic"
	"time"
)

// Peer is a library, used as its documentation shows.
type Peer struct {
	// Name is that of the library, Module its module path.
	Name, Module string
	// Lease is its default lease, or where it has none that of its examples.
	Lease time.Duration
	// Asked says which of its answers counts.
	Asked string
	// Can says which faults can be put upon it.
	Can Ability
	// Serve starts the server of a history.
	Serve func(*Clock) Server
	// Holds is whether a server holds many elections, rather than one.
	Holds bool
	// Why says what the library's overlaps come from.
	Why string
}

// Ability is a set of properties that a fault needs of a library.
type Ability uint

const (
	// OwnClock: it can be given a clock, so that each process has one of its own.
	OwnClock Ability = 1 << iota
	// ServerClock: its server decides when a lease ends.
	ServerClock
	// ServerWall: the server does so by its wall clock.
	ServerWall
	// Freezes: nothing of it happens while its calls are stopped, so that a paused process can be played.
	Freezes
)

// Server is what processes of one history share.
type Server interface {
	// Start has a process stand for election.
	Start(*Node) Process
	// Delete deletes the record of the election.
	Delete()
	// Backup returns a function that restores the state as it is now.
	Backup() (restore func())
	// Close ends the server, after all processes.
	Close()
}

// Process is one that stands for election.
type Process interface {
	// Leads is what the library says now, of which a term's work that needs time to return is part. It is asked
	// concurrently with all that the library does.
	Leads() bool
	// Stop leaves the election as the documentation shows, and returns when that is done. It is called once.
	Stop()
}

// Asker is a [Process] of a library that answers, without a call to its store, whether it leads.
type Asker interface {
	// Ask asks the library itself.
	Ask() bool
}

// Node is what a process has.
type Node struct {
	// Election is the name of the election; Identity is what the library is told of the process, where it wants a name.
	Election, Identity string
	// Link is its way to the server; Clock is its own.
	Link  *Link
	Clock *Clock
	// Seed is that of what it draws by itself.
	Seed uint64
	// Lease is the library's; Drain how long work is announced to need for its end, zero for the library's default;
	// Lingers how long it needs.
	Lease, Drain, Lingers time.Duration
	// Variant tells processes of even histories from those of odd ones, for libraries with two ways to be used.
	Variant bool

	working atomic.Int32
	frozen  atomic.Bool
}

// Work is leader work: it goes on until ctx ends, and then needs its time to return.
func (n *Node) Work(ctx context.Context) {
	n.working.Add(1)
	defer n.working.Add(-1)
	<-ctx.Done()
	time.Sleep(n.Lingers)
}

// Works tells whether work goes on.
func (n *Node) Works() bool { return n.working.Load() > 0 }
