package peers

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/bench"
)

// Peer is a library that elects a leader, ours or another.
type Peer struct {
	// Name is how flags and tables call it.
	Name string
	// Module is the path of the Go module whose version the report names, or what else names the version.
	Module string
	// About says in a few words how it is used.
	About string
	// Arena is the server on which it stands.
	Arena Arena
	// Ours says that it is this project's, and so what the others of the arena are compared with.
	Ours bool
	// Lease is how long a leader that died stays undisturbed at the library's defaults. Where it has none, it is what is
	// usual with it, and About says so.
	Lease time.Duration
	// Fixed says that no other lease can be had.
	Fixed bool
	// Poll is the interval at which followers look, as a share of the lease; zero if they are told.
	Poll float64
	// Most is with how many candidates it is measured at most.
	Most int
	// Storms says that its candidates at rest keep the machine busy, so that nothing else can be measured meanwhile.
	Storms bool
	// Needs reports what is missing to run it, nil if nothing is.
	Needs func() error
	// Open connects to the arena's server as one process would.
	Open func(ctx context.Context, address string) (Node, error)
}

// Node is a process with its connections. Its methods are safe for concurrent use.
type Node interface {
	// Contend returns a candidate that does not stand yet.
	Contend(election, id string, lease time.Duration) (Contender, error)
	Close() error
}

// Contender is a candidate. Lead and Release are called by turns.
type Contender interface {
	// Lead stands, and returns once it leads. Its lead goes on after ctx has ended.
	Lead(ctx context.Context) error
	// Release steps down in good order, as the library has it. The candidate stands no more until Lead is called, or
	// only once another one has led.
	Release(ctx context.Context) error
	// Close ends the candidate, in good order if it leads.
	Close() error
}

// Contenders returns the choice of peers.
func Contenders(all []Peer) bench.Choice[Peer] {
	return bench.Choice[Peer]{What: "contender", All: all, Name: func(p Peer) string { return p.Name }}
}
