// Command cron runs a scheduled job on one process only. Every process has the same schedule; the leader of an election
// runs the job.
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

	"github.com/go-co-op/gocron/v2"

	"github.com/tenure-go/tenure"
	adapter "github.com/tenure-go/tenure/adapters/gocron"
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
	here := filepath.Join(os.TempDir(), "tenure-cron")
	var (
		elections = flag.String("elections", filepath.Join(here, "elections"), "`directory` that all processes share")
		dir       = flag.String("ledger", filepath.Join(here, "ledger"), "`directory` in which the job leaves its traces")
		id        = flag.String("id", fmt.Sprintf("node-%d", os.Getpid()), "`name` of this process")
		ttl       = flag.Duration("ttl", tenure.DefaultTTL, "how long after a failure the next one takes over")
		crontab   = flag.String("crontab", "*/2 * * * * *", "when the job is due, with seconds")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := file.Open(*elections) // or any other store
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	candidate, err := tenure.New(store, "cron",
		tenure.WithID(*id), tenure.WithTTL(*ttl), tenure.WithLogger(slog.Default()))
	if err != nil {
		return err
	}
	entries, err := ledger.Open(*dir)
	if err != nil {
		return err
	}
	scheduler, err := schedule(candidate, *crontab, func(_ context.Context, term tenure.Term) error {
		return report(entries, term)
	})
	if err != nil {
		return err
	}
	// The candidate is stopped below, not with ctx: the scheduler goes first.
	if err := candidate.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	scheduler.Start()
	<-ctx.Done()
	return shutDown(scheduler, candidate)
}

// schedule makes a scheduler that begins no job unless the candidate leads. That alone would let a job go on when the
// term ends, so the job is a Task besides: its context ends with the term, it knows the token, and the seat is not
// given up before it has returned.
func schedule(
	candidate *tenure.Candidate, crontab string, job func(context.Context, tenure.Term) error,
) (gocron.Scheduler, error) {
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(adapter.Elector{Candidate: candidate}))
	if err != nil {
		return nil, err
	}
	_, err = scheduler.NewJob(gocron.CronJob(crontab, true), gocron.NewTask(adapter.Task(candidate, job)),
		gocron.WithSingletonMode(gocron.LimitModeReschedule)) // not twice at a time on the leader either
	return scheduler, err
}

// report is the job. A long one heeds its context; what it changes is given the token.
func report(entries *ledger.Ledger, term tenure.Term) error {
	text := "report of " + time.Now().Format(time.RFC3339)
	err := entries.Append(ledger.Entry{Token: term.Token, By: term.Leader, Text: text})
	if err != nil {
		slog.Error("the job failed", "error", err) // the scheduler keeps it to itself
	}
	return err
}

// shutDown ends the jobs, and then the candidacy. The elector has told the scheduler that this process leads, so the
// candidate would wait for the whole drain, in case jobs go on; as they have ended, Idle says that it need not.
func shutDown(scheduler gocron.Scheduler, candidate *tenure.Candidate) error {
	err := scheduler.Shutdown()
	if err == nil {
		candidate.Idle()
	}
	return errors.Join(err, candidate.Stop(context.Background()))
}
