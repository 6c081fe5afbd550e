package bench

import (
	"errors"
	"fmt"
	"io"

	"github.com/tenure-go/tenure/internal/testserver"
)

// ErrSkipped is why a bed is left out: its server is not installed.
var ErrSkipped = errors.New("skipped")

// WithServers calls do with a [testserver.TB] for a program that is no test, and ends the servers that were started
// with it when do returns. What ends a test makes do end with an error; of a test that is skipped, [ErrSkipped].
func WithServers(log io.Writer, do func(testserver.TB) error) (err error) {
	tb := &program{log: log}
	defer tb.cleanUp()
	return Guarded(tb, do)
}

// program is a testserver.TB.
type program struct {
	log      io.Writer
	failed   bool
	cleanups []func()
}

var _ testserver.TB = (*program)(nil)

// ended is what Fatalf and Skipf panic with, since nothing after them may run.
type ended struct{ err error }

// Guarded calls do, and returns what ended it early.
func Guarded(tb testserver.TB, do func(testserver.TB) error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case ended:
			err = r.err
		default:
			panic(r)
		}
	}()
	return do(tb)
}

func (p *program) cleanUp() {
	for len(p.cleanups) > 0 {
		last := p.cleanups[len(p.cleanups)-1]
		p.cleanups = p.cleanups[:len(p.cleanups)-1]
		_ = Guarded(p, func(testserver.TB) error { last(); return nil })
	}
}

func (p *program) Helper() {}

func (p *program) Name() string { return "bench" }

func (p *program) Failed() bool { return p.failed }

func (p *program) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

func (p *program) Logf(format string, args ...any) { fmt.Fprintf(p.log, format+"\n", args...) }

func (p *program) Fatalf(format string, args ...any) {
	p.failed = true
	panic(ended{fmt.Errorf(format, args...)})
}

func (p *program) Skipf(format string, args ...any) {
	panic(ended{fmt.Errorf("%w: "+format, append([]any{ErrSkipped}, args...)...)})
}
