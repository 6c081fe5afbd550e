package testserver

import (
	"fmt"
	"slices"
	"sync"
)

// Shared is a server that the tests of a package share, since it takes long to start and they do it no harm. Its zero
// value with Start is ready for use, by several tests at the same time.
type Shared[S any] struct {
	// Start starts the server. It is called for the first test that needs one.
	Start func(TB) *S

	once   sync.Once
	server *S
	tb     lasting
}

// Server returns the server. If it did not start for the first test, no later one tries again: each is skipped as that
// one was, or fails.
func (s *Shared[S]) Server(tb TB) *S {
	tb.Helper()
	s.once.Do(func() {
		s.tb.TB = tb
		s.server = s.Start(&s.tb)
	})
	switch {
	case s.server != nil:
		return s.server
	case s.tb.skipped != "":
		tb.Skipf("%s", s.tb.skipped)
	default:
		tb.Fatalf("the server that tests share did not start; the first of them says why")
	}
	return nil
}

// End stops the server, if it was started. TestMain calls it when all tests have ended.
func (s *Shared[S]) End() {
	for _, cleanup := range slices.Backward(s.tb.cleanups) {
		cleanup()
	}
}

// lasting is the test that needs the server first, but for what belongs to the server, which outlives it.
type lasting struct {
	TB

	skipped  string
	mu       sync.Mutex
	cleanups []func()
}

func (l *lasting) Name() string        { return "shared" }
func (l *lasting) Failed() bool        { return false }
func (l *lasting) Logf(string, ...any) {}

func (l *lasting) Cleanup(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cleanups = append(l.cleanups, f)
}

func (l *lasting) Skipf(format string, args ...any) {
	l.Helper()
	l.skipped = fmt.Sprintf(format, args...)
	l.TB.Skipf("%s", l.skipped)
}
