// Command plaincron runs a job of a plain cron library on one process only. No adapter is needed: every library calls a
// function, and RunIfLeader calls yours if this process leads.
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

	"github.com/robfig/cron/v3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/examples/ledger"
	"github.com/tenure-go/tenure/file"
)

func main() {
	if err := run(); err != nil {
		slog.Error("the scheduler failed", "error", err)
		os.Exit(1)
	}
}

func run() (err error) {
	here := filepath.Join(os.TempDir(), "tenure-plaincron")
	var (
		elections = flag.String("elections", filepath.Join(here, "elections"), "`directory` that all processes share")
		dir       = flag.String("ledger", filepath.Join(here, "ledger"), "`directory` in which the job leaves its traces")
		id        = flag.String("id", fmt.Sprintf("node-%d", os.Getpid()), "`name` of this process")
		ttl       = flag.Duration("ttl", tenure.DefaultTTL, "how long after a failure the next one takes over")
		spec      = flag.String("spec", "@every 2s", "when the job is due")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := file.Open(*elections) // or any other store
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	candidate, err := tenure.New(store, "plaincron",
		tenure.WithID(*id), tenure.WithTTL(*ttl), tenure.WithLogger(slog.Default()))
	if err != nil {
		return err
	}
	entries, err := ledger.Open(*dir)
	if err != nil {
		return err
	}
	jobs := cron.New(cron.WithChain(cron.SkipIfStillRunning(cron.DiscardLogger)))
	_, err = jobs.AddFunc(*spec, func() {
		// The job's context ends with the term, and the seat is not given up before it has returned.
		_, err := candidate.RunIfLeader(ctx, func(_ context.Context, term tenure.Term) error {
			text := "report of " + time.Now().Format(time.RFC3339)
			return entries.Append(ledger.Entry{Token: term.Token, By: term.Leader, Text: text})
		})
		if err != nil {
			slog.Error("the job failed", "error", err)
		}
	})
	if err != nil {
		return err
	}
	if err := candidate.Start(ctx); err != nil {
		return err
	}
	jobs.Start()
	<-ctx.Done()
	<-jobs.Stop().Done()
	return candidate.Stop(context.Background())
}
