package leaderhttp

import (
	"context"
	"sync"
)

// Mark remembers the highest fencing token that was seen of each election. [MemoryMark] and [FileMark] are
// two; a [MarkFunc] makes one of a database, as the example shows for package fence.
type Mark interface {
	// Raise makes token the election's mark if it is higher than the one kept, and returns the mark that then
	// stands: token itself, or a higher one. It returns without an error only once that mark can no longer be lost,
	// and is safe for concurrent use.
	Raise(ctx context.Context, election string, token uint64) (highest uint64, err error)
}

// MarkFunc makes a [Mark] of a function.
type MarkFunc func(ctx context.Context, election string, token uint64) (highest uint64, err error)

// Raise implements [Mark].
func (f MarkFunc) Raise(ctx context.Context, election string, token uint64) (uint64, error) {
	return f(ctx, election, token)
}

// MemoryMark is a [Mark] that lasts as long as its process: for tests, and for guarded state that lasts no longer
// either. The zero MemoryMark is ready for use.
type MemoryMark struct {
	mu    sync.Mutex
	marks map[string]uint64
}

// Raise implements [Mark].
func (m *MemoryMark) Raise(_ context.Context, election string, token uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.marks == nil {
		m.marks = map[string]uint64{}
	}
	m.marks[election] = max(m.marks[election], token)
	return m.marks[election], nil
}
