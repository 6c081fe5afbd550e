// Command worker does a job that at most one process at a time may do. Start it as often as you like: one of them
// works, the others stand by and take over.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/examples/ledger"
)

func main() {
	if err := run(); err != nil {
		slog.Error("the worker failed", "error", err)
		os.Exit(1)
	}
}

func run() (err error) {
	here := filepath.ToSlash(filepath.Join(os.TempDir(), "tenure-worker"))
	var (
		address = flag.String("store", "file://"+here+"/elections", "`URL` of the store that all workers share")
		dir     = flag.String("ledger", here+"/ledger", "`directory` in which the work leaves its traces")
		id      = flag.String("id", fmt.Sprintf("worker-%d", os.Getpid()), "`name` of this worker")
		ttl     = flag.Duration("ttl", tenure.DefaultTTL, "how long after a failure the next worker takes over")
		every   = flag.Duration("every", time.Second, "how long a step of the work takes")
	)
	flag.Parse()

	// SIGTERM ends this context; Run then waits for the work to return, and gives the seat back.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := open(ctx, *address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	candidate, err := tenure.New(store, "worker",
		tenure.WithID(*id), tenure.WithTTL(*ttl), tenure.WithLogger(slog.Default()))
	if err != nil {
		return err
	}
	entries, err := ledger.Open(*dir)
	if err != nil {
		return err
	}
	slog.Info("standing by", "id", *id, "store", *address, "ledger", *dir)
	err = candidate.Run(ctx, func(ctx context.Context, term tenure.Term) error {
		return work(ctx, term, entries, *every)
	})
	if errors.Is(err, context.Canceled) {
		slog.Info("stopped, and the seat is given back", "id", *id)
		return nil
	}
	return err
}

// work is called once for every term that this process leads, and ctx ends with the term. It never returns by itself,
// since that would end Run: for work that is done at some time, that is just right.
func work(ctx context.Context, term tenure.Term, entries *ledger.Ledger, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for step := 1; ; step++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		// A process that was frozen finds both channels ready when it wakes up. The clock knows better.
		if !term.Valid() {
			continue
		}
		err := entries.Append(ledger.Entry{Token: term.Token, By: term.Leader, Text: fmt.Sprint("step ", step)})
		switch {
		case errors.Is(err, ledger.ErrStale):
			// Frozen between the question and the write, and followed by another leader. So this term is over, and
			// the process is about to find out; returning before that would end Run.
			slog.Warn("refused", "error", err)
			<-ctx.Done()
		case err != nil:
			return err
		}
	}
}
