package peers

import (
	"context"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Arena is a kind of server.
type Arena struct {
	// Name is how tables call it.
	Name string
	// Start starts one. What it starts ends with tb.
	Start func(tb testserver.TB) (Server, error)
}

// Server is a running server. Ping and Write are as [bench.Server] has them.
type Server interface {
	bench.Counter

	Version() string
	Address() string
	Ping(ctx context.Context) error
	Write(ctx context.Context, value int) error
}

// Writes is the name of a count: what changed in the server's data. Requests that changed nothing are not in it.
const Writes = "writes"
