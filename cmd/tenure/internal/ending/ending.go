// Package ending turns the signals that ask a program to end into the end of a context.
package ending

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Signals are those that ask a program to end.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// Signal is the error that says that a signal ended the program.
type Signal syscall.Signal

func (s Signal) Error() string { return "ended by signal: " + syscall.Signal(s).String() }

// ExitCode returns the exit code by which shells know the signal: 128 and its number.
func (s Signal) ExitCode() int { return 128 + int(s) }

// Explain replaces the error of a call that was cut short because a context of [Context] ended, by the [Signal].
func Explain(ctx context.Context, err error) error {
	if caught, ok := errors.AsType[Signal](context.Cause(ctx)); ok && errors.Is(err, context.Canceled) {
		return caught
	}
	return err
}

// Notify relays [Signals] to c. One that is ignored, as SIGHUP under nohup, stays so.
func Notify(c chan<- os.Signal) {
	for _, sig := range Signals {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
}

// Context returns a context that ends with the first of [Signals]; its cause is then a [Signal]. The next signal finds
// the system's default, unless somebody else listens too.
func Context(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	Notify(caught)
	go func() {
		select {
		case sig := <-caught:
			cancel(Signal(sig.(syscall.Signal)))
		case <-ctx.Done():
		}
		signal.Stop(caught)
	}()
	return ctx, func() { cancel(nil) }
}
