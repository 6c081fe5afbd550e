package bench

import (
	"context"
	"io"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Bed is a store with all that it takes to measure it.
type Bed struct {
	// Name is how flags and tables call it.
	Name string
	// About says in a few words what is measured: kind of server, durability, mode.
	About string
	// Aim is what the project wants of it.
	Aim Aim
	// Start starts its server. What it starts ends with tb.
	Start func(tb testserver.TB) (Server, error)
	// Open opens a store with connections of its own at an address that Server gave, as another process would. It is
	// nil if no other process can.
	Open func(ctx context.Context, address string) (Store, error)
}

// Store is a store that has to be closed.
type Store interface {
	tenure.Store
	io.Closer
}

// Server is a bed's running server.
type Server interface {
	// Version tells which server it is.
	Version() string
	// Open opens a store with connections of its own.
	Open(ctx context.Context) (Store, error)
	// Address is what [Bed.Open] takes in another process.
	Address() string
	// Ping makes the smallest round trip that the server knows, on a connection that is open already.
	Ping(ctx context.Context) error
	// Write replaces one of [BareValues] values of about the size of a record, as durably as the store replaces a
	// record, by the plainest means that the server has. It is safe for concurrent use.
	Write(ctx context.Context, value int) error
}

// BareValues is how many values bare writes go to.
const BareValues = 64

// Counter is an optional interface of a [Server] that counts what reaches it. Without it, the calls of the candidates
// to their stores are counted instead.
type Counter interface {
	// Counts returns what the server has counted since it started.
	Counts(ctx context.Context) (Counts, error)
}

// Listener is an optional interface of a [Server] that can only count while somebody listens to it, which costs it
// time: what is timed runs without.
type Listener interface {
	// Listen begins to count until stop is called.
	Listen(ctx context.Context) (stop func() error, err error)
}

// Counts are numbers that a server counts, by name. Those but [Connections] and [HotShare] are counted from its start.
type Counts map[string]float64

// Names of counts.
const (
	// Requests: statements, commands or messages that clients sent.
	Requests = "requests"
	// Connections: those open now, the harness's own excluded.
	Connections = "connections"
	// WALBytes: bytes of the write-ahead log.
	WALBytes = "WAL bytes"
	// FullPages: pages that the write-ahead log holds whole, because they changed for the first time after a checkpoint.
	FullPages = "whole pages in the WAL"
	// DeadRows: versions of rows that updates left behind and nothing has reclaimed.
	DeadRows = "dead rows left"
	// TableBytes: the size of the tables.
	TableBytes = "table bytes"
	// HotShare: the share of updated rows, in percent, for which no index had to be touched.
	HotShare = "HOT updates, %"
)

// counted reports whether a count began with the server's start.
func counted(name string) bool { return name != Connections && name != HotShare }

// Since returns what was counted since before; of what is not counted from the start, its value now.
func (c Counts) Since(before Counts) Counts {
	since := make(Counts, len(c))
	for name, value := range c {
		if counted(name) {
			value -= before[name]
		}
		since[name] = value
	}
	return since
}

// Per returns the counts divided by n, except for what is not counted from the start.
func (c Counts) Per(n float64) Counts {
	per := make(Counts, len(c))
	for name, value := range c {
		if counted(name) {
			value /= n
		}
		per[name] = value
	}
	return per
}

// Aim is what the project wants of a store; zero where nothing is asked.
type Aim struct {
	// Renewal is how many bare writes a renewal may take.
	Renewal float64
	// FailOver is how many TTLs a fail-over may take, if the store's design needs more than the TTL and round trips.
	FailOver float64
	// HandOver is how many round trips to the store, which are renewals, a hand-over may take.
	HandOver float64
	// Silent asks that followers at rest send nothing.
	Silent bool
}
