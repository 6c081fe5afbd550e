package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// endings are the signals that ask tenure to end.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// notifyEndings relays the signals that ask to end. One that is ignored, as SIGHUP under nohup, stays so.
func notifyEndings(c chan<- os.Signal) {
	for _, sig := range endings {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
}

// untilSignal returns a context that ends with the first signal, which is its cause. The next one finds the system's
// default, unless a subcommand listens too.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	caught := make(chan os.Signal, 1)
	notifyEndings(caught)
	go func() {
		select {
		case sig := <-caught:
			cancel(signalError(sig.(syscall.Signal)))
		case <-ctx.Done():
		}
		signal.Stop(caught)
	}()
	return ctx, func() { cancel(nil) }
}
