package beds

import (
	"context"
	"runtime"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/memory"
)

// Memory is the store in memory. A round trip to it is a call, and nothing can be barer than its own writes: it shows
// what the engine takes by itself.
func Memory() bench.Bed {
	return bench.Bed{
		Name: "memory", About: "in the process: what the candidates take by themselves",
		Start: func(testserver.TB) (bench.Server, error) {
			return &memoryServer{store: memory.New()}, nil
		},
	}
}

type memoryServer struct{ store *memory.Store }

// shared is a store that outlives those who open it.
type shared struct{ *memory.Store }

func (shared) Close() error { return nil }

func (m *memoryServer) Version() string { return "memory, " + runtime.Version() }

func (m *memoryServer) Address() string { return "" }

func (m *memoryServer) Open(context.Context) (bench.Store, error) { return shared{m.store}, nil }

func (m *memoryServer) Ping(ctx context.Context) error {
	_, err := m.store.Load(ctx, "bare")
	return err
}

func (m *memoryServer) Write(ctx context.Context, value int) error {
	return swapBare(ctx, m.store, value)
}
