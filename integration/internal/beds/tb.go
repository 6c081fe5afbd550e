//go:build linux

package beds

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tenure-go/tenure/internal/testserver"
)

// ErrSkipped is why a run is not made: its server is not installed.
var ErrSkipped = errors.New("skipped")

// WithServers calls do with a [testserver.TB] for a program that is no test, and ends the servers that were started
// with it when do returns. What would end a test makes do end with an error; of a test that is skipped, [ErrSkipped].
func WithServers(log io.Writer, do func(testserver.TB) error) error {
	tb := &program{log: log}
	defer tb.cleanUp()
	return Guarded(func() error { return do(tb) })
}

// Guarded calls do, which uses servers of [WithServers], and returns what ended it early. Each goroutine that uses them
// needs it.
func Guarded(do func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case ended:
			err = r.err
		default:
			panic(r)
		}
	}()
	return do()
}

// program is a testserver.TB.
type program struct {
	log io.Writer

	mu       sync.Mutex
	failed   bool
	cleanups []func()
}

var _ testserver.TB = (*program)(nil)

// ended is what Fatalf and Skipf panic with, since nothing after them may run.
type ended struct{ err error }

func (p *program) cleanUp() {
	for {
		last := p.pop()
		if last == nil {
			return
		}
		_ = Guarded(func() error { last(); return nil })
	}
}

func (p *program) pop() (last func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.cleanups); n > 0 {
		last, p.cleanups = p.cleanups[n-1], p.cleanups[:n-1]
	}
	return last
}

func (p *program) Helper() {}

func (p *program) Name() string { return "chaos" }

func (p *program) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *program) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}

func (p *program) Logf(format string, args ...any) { fmt.Fprintf(p.log, format+"\n", args...) }

func (p *program) Fatalf(format string, args ...any) {
	p.mu.Lock()
	p.failed = true
	p.mu.Unlock()
	panic(ended{fmt.Errorf(format, args...)})
}

func (p *program) Skipf(format string, args ...any) {
	panic(ended{fmt.Errorf("%w: "+format, append([]any{ErrSkipped}, args...)...)})
}
